// The code of `temporalex debug`. What is shown are the files as they are on the disk; what is run is the bundle that the command has made
// of them, with packages found as a worker finds them. A file that is edited in the page is run from the files.
import { type CodeFile, type CodeSet, codeSet } from "../realm/code_set.ts";

/** What the feed brings. */
export interface CodeMessage {
  readonly version: number;
  readonly bundle: string;
  readonly entry: string;
  readonly files: readonly CodeFile[];
}

const BUNDLE = "temporalex.bundle.js";

class ServedCode {
  #shown: CodeSet | undefined;
  #bundle = "";
  #version = 0;

  /** The set of the newest version. Its id stays the same: it is the same code, saved again. */
  take({ version, bundle, entry, files }: CodeMessage): CodeSet {
    this.#version = version;
    this.#bundle = bundle;
    const before = this.#shown ?? codeSet({ entry, files, origin: "command line" });
    return this.#shown = { ...before, entry, files };
  }

  /** The command's number of a set that is shown; undefined for others, and for earlier ones. */
  versionOf(code: CodeSet): number | undefined {
    return code === this.#shown ? this.#version : undefined;
  }

  /** What is given to a realm for a set that is shown. */
  runnable(code: CodeSet): CodeSet {
    if (code !== this.#shown) return code;
    return { id: code.id, entry: BUNDLE, files: [{ path: BUNDLE, text: this.#bundle }], origin: code.origin };
  }
}

export const servedCode: ServedCode = new ServedCode();
