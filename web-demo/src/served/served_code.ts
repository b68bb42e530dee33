// The code of `temporalex debug`. The page shows the files on the disk and runs the bundle that the
// command built from them, with packages resolved like in a worker. A file that is edited in the
// page runs from the files.
import { type CodeFile, type CodeSet, codeSet } from "../store/code_set.ts";

/** A message of the feed. */
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

  /** The code set of the newest version. It keeps its id when the code is saved again. */
  take({ version, bundle, entry, files }: CodeMessage): CodeSet {
    this.#version = version;
    this.#bundle = bundle;
    const before = this.#shown ?? codeSet({ entry, files, origin: "command line" });
    return this.#shown = { ...before, entry, files };
  }

  /** The command's version number of a code set; undefined for other and earlier sets. */
  versionOf(code: CodeSet): number | undefined {
    return code === this.#shown ? this.#version : undefined;
  }

  /** The code set to run for one that is shown. */
  runnable(code: CodeSet): CodeSet {
    if (code !== this.#shown) return code;
    return {
      id: code.id,
      entry: BUNDLE,
      files: [{ path: BUNDLE, text: this.#bundle }],
      origin: code.origin,
    };
  }
}

export const servedCode: ServedCode = new ServedCode();
