// What a module becomes, in the terms of the loader: its outline, its forms, and what is wrong with it. `parse_module.ts` makes it.
import { displayName, type Problem, type ProblemCode } from "./errors.ts";
import type { ProbePoint } from "../../executor/program/line_probe.ts";

export type ModuleKind = "esm" | "cjs" | "json";

/** One imported module of a module; its index is the number in `$i0`, `$i1`, ... */
export interface ModuleRequest {
  readonly specifier: string;
  readonly line: number;
  /** `require("...")`, also in a module with imports. */
  readonly required?: boolean;
  /** `import("...")`. */
  readonly dynamic?: boolean;
  /** It is only required inside of a try: the module does without it. */
  readonly optional?: boolean;
  /** Names taken from it, with the line of each; "*" is the whole namespace. */
  readonly names: { readonly name: string; readonly line: number }[];
}

/** How a request finds its module. */
export const howOf = (kind: ModuleKind, { required, dynamic }: ModuleRequest): "import" | "require" =>
  required === true || (kind === "cjs" && dynamic !== true) ? "require" : "import";

/** An export that keeps state, and how: the methods that change it, or each call of it makes a function that does. */
export interface StatefulExport {
  readonly methods: readonly string[];
  readonly makesState: boolean;
}

/** `export { name as exported } from "..."`; name "*" is the namespace. */
export interface IndirectExport {
  readonly exported: string;
  readonly request: number;
  readonly name: string;
  readonly line: number;
}

/** A write to something that was imported, judged when the other module is known. */
export interface ImportedMutation {
  readonly request: number;
  readonly name: string;
  readonly line: number;
  /** Absent for a direct write to a property. */
  readonly method?: string;
}

/** How a module is evaluated: once for all runs of a realm, or once for each run. */
export type Form = "shared" | "run";

/** What other modules and the graph need to know of a module. */
export interface ModuleOutline {
  readonly kind: ModuleKind;
  readonly requests: readonly ModuleRequest[];
  /** Names that the module itself defines. */
  readonly exports: readonly string[];
  readonly indirect: readonly IndirectExport[];
  /** Requests of `export * from "..."`. */
  readonly stars: readonly number[];
}

/** A module in one form. */
export interface CompiledModule {
  readonly code: string;
  /** Exports that hold a mutable collection. */
  readonly collections: readonly string[];
  readonly importedMutations: readonly ImportedMutation[];
  /** Exports that keep state behind methods or closures, of modules that runs share. */
  readonly stateful?: ReadonlyMap<string, StatefulExport>;
  /** Imported functions that are called while the module is evaluated, with the line. */
  readonly importedCalls?: readonly ImportedMutation[];
  /** Imported names that the module's own code reads; others are at most exported again. */
  readonly reads: ReadonlySet<string>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** A parsed module: what it asks for and offers, and its text in each form. */
export interface ModuleUnit extends ModuleOutline {
  /** Without types. */
  readonly text: string;
  /** Of a debug session's module: its text has probes at these points. */
  readonly points?: readonly ProbePoint[];
  compile(form: Form): CompiledModule;
}

export interface ModuleSource {
  readonly url: string;
  readonly text: string;
  /** The text comes from a bundle: its types are gone. */
  readonly stripped?: boolean;
  /** What the file name and package.json say; undefined where only the text can tell. */
  readonly kind: ModuleKind | undefined;
  /** In a package: what only may go wrong when it is called (dynamic import) is left to the call. */
  readonly foreign: boolean;
  /** The runtime has no AsyncLocalStorage: what is evaluated for each run puts its frames back itself. */
  readonly restoreFrames: boolean;
  /** Debug sessions: probes are put in; and the lines at whose statements variables are read, too. */
  readonly probes?: ReadonlySet<number>;
}

export const EMPTY: CompiledModule = {
  ...{ code: "", collections: [], importedMutations: [] },
  ...{ reads: new Set<string>(), problems: [], warnings: [] },
};

/** A pattern: what may stand between two tokens. */
export const textGap = String.raw`(?:\s|/\*[\s\S]*?\*/|//[^\n]*\n)*`;

/** The key of an imported name in `reads`. */
export const readKey = (request: number, name: string): string => `${request} ${name}`;

/** Of a module that cannot be parsed. */
export const EMPTY_UNIT: ModuleUnit = {
  kind: "cjs",
  text: "",
  requests: [],
  exports: [],
  indirect: [],
  stars: [],
  compile: () => EMPTY,
};

/** A problem in a module. */
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

/** The line (from 1) of offsets in a text. */
export class Lines {
  readonly #starts = [0];

  constructor(text: string) {
    for (let i = text.indexOf("\n"); i >= 0; i = text.indexOf("\n", i + 1)) this.#starts.push(i + 1);
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

/** Begins no name of the text with one of the letters behind it. */
export function freePrefix(text: string, letters: readonly string[]): string {
  let prefix = "$";
  while (letters.some((letter) => text.includes(prefix + letter))) prefix += "$";
  return prefix;
}

/** The compiled module's parameter, and what of it are the run's global object and the object that throws for what that lacks. */
export interface RunNames {
  readonly parameter: string;
  readonly global: string;
  readonly lookup: string;
}

/** What a module in the form for runs calls its globals (RunScope). */
export const runNames = (prefix: string): RunNames => ({
  parameter: `${prefix}g`,
  global: `${prefix}g.global`,
  lookup: `${prefix}g.lookup`,
});
