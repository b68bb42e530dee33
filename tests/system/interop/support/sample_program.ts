// A program of temporalio/samples-typescript (MIT), run from a folder next to the checkout: its
// files are loaded as CommonJS, as ts-node does it; the test provides what they import from
// `@temporalio/*`, and their console.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { format } from "node:util";
import { randomUUID } from "node:crypto";
import { transform } from "sucrase";
import { root } from "./official.ts";

/** Where the samples are; undefined if they are not next to the checkout. */
export const samples: string | undefined = (() => {
  const folder = join(root, "../shared/samples");
  return existsSync(join(folder, "baseline.json")) ? folder : undefined;
})();

// deno-lint-ignore no-explicit-any
type Loose = any;

const OTHERS: { readonly [name: string]: unknown } = {
  nanoid: { nanoid: () => randomUUID().slice(0, 21) },
  uuid: { v4: randomUUID },
  cuid: { __esModule: true, default: randomUUID },
};

export interface Program {
  /** What it has written to its console. */
  readonly out: string;
  /** Resolves with the code that it left with; never, if it does not leave. */
  readonly exited: Promise<number>;
}

/** Runs a file of a sample. `modules`: what it gets for each package. */
export function runProgram(
  path: string,
  modules: { readonly [name: string]: unknown },
): Program {
  let out = "";
  let exit!: (code: number) => void;
  const exited = new Promise<number>((resolve) => exit = resolve);
  const print = (...values: unknown[]) => void (out += `${format(...values)}\n`);
  const console = { log: print, error: print, warn: print, info: print };
  const process = Object.assign(Object.create(globalThis.process), { exit });
  const known = new Map<string, { exports: Loose }>();
  const node = createRequire(import.meta.url);
  const load = (file: string): Loose => {
    const before = known.get(file);
    if (before !== undefined) return before.exports;
    const module = { exports: {} };
    known.set(file, module);
    const { code } = transform(readFileSync(file, "utf8"), {
      transforms: ["typescript", "imports"],
      filePath: file,
    });
    const find = (name: string) =>
      ["", ".ts", "/index.ts"].map((end) => resolve(dirname(file), name) + end)
        .find((found) => /\.ts$/.test(found) && existsSync(found));
    const require = Object.assign((name: string): Loose => {
      if (Object.hasOwn(modules, name)) return modules[name];
      if (Object.hasOwn(OTHERS, name)) return OTHERS[name];
      if (!name.startsWith(".")) return node(name);
      const found = find(name);
      if (found === undefined) throw new Error(`${file} requires ${name}`);
      return load(found);
    }, { resolve: (name: string) => find(name) ?? node.resolve(name) });
    new Function(
      "exports",
      "require",
      "module",
      "__filename",
      "__dirname",
      "console",
      "process",
      `${code}\n//# sourceURL=file://${file}`,
    )(
      ...[
        module.exports,
        require,
        module,
        file,
        dirname(file),
        console,
        process,
      ],
    );
    return module.exports;
  };
  load(path);
  return {
    get out() {
      return out;
    },
    exited,
  };
}
