// Data types of a parsed module: its outline, its forms and its problems. Made by
// `parse_module.ts`.
import { displayName, type Problem, type ProblemCode } from "./errors.ts";
import type { ProbePoint } from "../../executor/program/line_probe.ts";

export type ModuleKind = "esm" | "cjs" | "json";

/** One imported module. Its index is the number in `$i0`, `$i1`, ... */
export interface ModuleRequest {
  readonly specifier: string;
  readonly line: number;
  /** `require("...")`, also in a module with imports. */
  readonly required?: boolean;
  /** `import("...")`. */
  readonly dynamic?: boolean;
  /** Only required inside a try: the module works without it. */
  readonly optional?: boolean;
  /** Imported names with their lines; "*" is the whole namespace. */
  readonly names: { readonly name: string; readonly line: number }[];
}

/** Returns the resolution mode of a request. */
export const howOf = (
  kind: ModuleKind,
  { required, dynamic }: ModuleRequest,
): "import" | "require" =>
  required === true || (kind === "cjs" && dynamic !== true) ? "require" : "import";

/**
 * An export that keeps state: by methods that change it, or because each call of it returns a
 * function with state.
 */
export interface StatefulExport {
  readonly methods: readonly string[];
  readonly makesState: boolean;
}

/** `export { name as exported } from "..."`; the name "*" is the namespace. */
export interface IndirectExport {
  readonly exported: string;
  readonly request: number;
  readonly name: string;
  readonly line: number;
}

/** A write to an import, judged when the other module is known. */
export interface ImportedMutation {
  readonly request: number;
  readonly name: string;
  readonly line: number;
  /** Absent for a write to a property. */
  readonly method?: string;
  /** The method of the value itself, not of something that it contains. */
  readonly direct?: boolean;
}

/** How a module is evaluated: once for all runs of a realm, or once for each run. */
export type Form = "shared" | "run";

/** What the graph and other modules need to know of a module. */
export interface ModuleOutline {
  readonly kind: ModuleKind;
  readonly requests: readonly ModuleRequest[];
  /** Names that the module itself defines. */
  readonly exports: readonly string[];
  readonly indirect: readonly IndirectExport[];
  /** Indices of the requests of `export * from "..."`. */
  readonly stars: readonly number[];
}

/** A module in one form. */
export interface CompiledModule {
  readonly code: string;
  /** Exports that are arrays or built-in collections. */
  readonly collections: readonly string[];
  /** Exports that are plain objects. */
  readonly plainObjects: readonly string[];
  readonly importedMutations: readonly ImportedMutation[];
  /** Exports that keep state behind methods or closures; of modules that runs share. */
  readonly stateful?: ReadonlyMap<string, StatefulExport>;
  /** Imported functions that are called during evaluation, with their lines. */
  readonly importedCalls?: readonly ImportedMutation[];
  /** Imported names that the module's own code reads; others are only re-exported. */
  readonly reads: ReadonlySet<string>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** A construct whose scope the rewritten code does not follow exactly (rewrite.ts). */
  readonly inexactScope?: string;
}

/** A parsed module: imports, exports, and its text in each form. */
export interface ModuleUnit extends ModuleOutline {
  /** Text without types. */
  readonly text: string;
  /** In debug sessions: the points of the probes in the text. */
  readonly points?: readonly ProbePoint[];
  compile(form: Form): CompiledModule;
}

export interface ModuleSource {
  readonly url: string;
  readonly text: string;
  /** The text comes from a bundle and has no types. */
  readonly stripped?: boolean;
  /** Kind by file name and package.json; undefined if only the text can decide. */
  readonly kind: ModuleKind | undefined;
  /** True for packages: dynamic imports are reported when they are called, not at load. */
  readonly foreign: boolean;
  /**
   * The runtime has no AsyncLocalStorage: code evaluated for each run restores its frames itself.
   */
  readonly restoreFrames: boolean;
  /** In debug sessions: adds probes; lines at whose statements variables are read as well. */
  readonly probes?: ReadonlySet<number>;
}

export const EMPTY: CompiledModule = {
  ...{ code: "", collections: [], plainObjects: [], importedMutations: [] },
  ...{ reads: new Set<string>(), problems: [], warnings: [] },
};

/** A pattern for whitespace and comments between two tokens. */
export const textGap = String.raw`(?:\s|/\*[\s\S]*?\*/|//[^\n]*\n)*`;

/** Returns the key of an imported name in `reads`. */
export const readKey = (request: number, name: string): string => `${request} ${name}`;

/** The unit of a module that cannot be parsed. */
export const EMPTY_UNIT: ModuleUnit = {
  kind: "cjs",
  text: "",
  requests: [],
  exports: [],
  indirect: [],
  stars: [],
  compile: () => EMPTY,
};

/** Returns a problem in a module. */
export function problem(
  source: ModuleSource,
  code: ProblemCode,
  line: number,
  column: number,
  name: string,
  message: string,
): Problem {
  return { code, file: displayName(source.url), line, column, name, message };
}

/** Converts offsets in a text to lines, from 1. */
export class Lines {
  readonly #starts = [0];

  constructor(text: string) {
    for (let i = text.indexOf("\n"); i >= 0; i = text.indexOf("\n", i + 1)) {
      this.#starts.push(i + 1);
    }
  }

  line(offset: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }
}

/** Returns a prefix such that no name in the text consists of it and one of the letters. */
export function freePrefix(text: string, letters: readonly string[]): string {
  let prefix = "$";
  while (letters.some((letter) => text.includes(prefix + letter))) prefix += "$";
  return prefix;
}

/**
 * Names in the form for runs: the module function's parameter, the run's global object, and the
 * variant that throws for missing names.
 */
export interface RunNames {
  readonly parameter: string;
  readonly global: string;
  readonly lookup: string;
}

/** Returns the names that a module in the form for runs uses (RunScope). */
export const runNames = (prefix: string): RunNames => ({
  parameter: `${prefix}g`,
  global: `${prefix}g.global`,
  lookup: `${prefix}g.lookup`,
});
