// Definition of commands: name, options, help, and function. A description is data from which
// parser, help, shell completion and types are derived. commands/mod.ts describes how to add a
// command.
import type { Io } from "../io.ts";
import type { Printer } from "./printer.ts";

/** An option. Its name is the key in camel case: `workflowId` is `--workflow-id`. */
export interface Option {
  /**
   * flag: a boolean. duration: "90s", "5m", "1.5 hours", in milliseconds. number: a finite number.
   */
  readonly type: "text" | "flag" | "number" | "duration";
  /** One letter, for `-w`. */
  readonly short?: string;
  /** Aliases, in camel case. */
  readonly aliases?: readonly string[];
  /**
   * Placeholder of the value in the help, without brackets: "path". Values with "id" or "name", and
   * required ones, must not be empty.
   */
  readonly value?: string;
  /** Allowed values; comparison ignores case, "-" and "_". */
  readonly choices?: readonly string[];
  /** Value without `=`: `--values` is the same as `--values=warn`. A value is written with `=`. */
  readonly bare?: string;
  /** Can be repeated; the value is a list, empty by default. */
  readonly many?: boolean;
  readonly required?: boolean;
  /** Default value, shown in the help. */
  readonly default?: string | number;
  /** Environment variable for the value. */
  readonly env?: string;
  /** One or two sentences, without a final period. */
  readonly help: string;
  /** Completion of values in shells, in addition to `choices`. */
  readonly completes?: "files" | "folders";
  /** Section of the help. Default: Options. */
  readonly section?: string;
}

export interface Options {
  readonly [name: string]: Option;
}

type Single<O extends Option> = O extends { readonly type: "flag" } ? boolean
  : O extends { readonly type: "number" | "duration" } ? number
  : O extends { readonly choices: readonly (infer C)[] } ? C
  : string;

/** The type of an option's value. */
export type Value<O extends Option> = O extends { readonly many: true } ? readonly Single<O>[]
  : O extends
    { readonly type: "flag" } | { readonly required: true } | { readonly default: string | number }
    ? Single<O>
  : Single<O> | undefined;

export type Values<O extends Options> = { readonly [N in keyof O]: Value<O[N]> };

/** Argument of a command's function. */
export interface Call<O extends Options = Options> {
  /** Full name: "workflow start". */
  readonly name: string;
  readonly options: Values<O>;
  /** Names of options on the command line, without those of the environment and defaults. */
  readonly given: ReadonlySet<string>;
  /** Positional arguments. */
  readonly args: readonly string[];
  readonly io: Io;
  /** Writes results in the requested format. */
  readonly print: Printer;
  /** Aborted by Ctrl-C and SIGTERM. Commands without `drains` can ignore it. */
  readonly signal: AbortSignal;
}

export interface Command<O extends Options = Options> {
  /** One line, for the list of commands. */
  readonly summary: string;
  /** One or two paragraphs. */
  readonly description?: string;
  readonly options: O;
  /** Positional arguments. Default: none. */
  readonly args?: {
    readonly name: string;
    readonly many?: boolean;
    readonly required?: boolean;
    readonly help: string;
    readonly completes?: "files" | "folders";
    readonly choices?: readonly string[];
  };
  /** Additional lines of the section "Exit code". */
  readonly exits?: readonly string[];
  /** Additional help text after the options. */
  readonly notes?: string;
  /** Example command lines with their purpose. At least one. */
  readonly examples: readonly { readonly line: string; readonly what?: string }[];
  /** Results are streamed: `--json` writes JSON lines, not one document. */
  readonly lines?: boolean;
  /** Default format if standard output is not a terminal. Default: text. */
  readonly piped?: "jsonl";
  /**
   * The command stops cleanly when `signal` is aborted, and returns an exit code. Without this
   * option, the frame abandons the command at the first Ctrl-C. A second Ctrl-C always ends the
   * process at once.
   */
  readonly drains?: boolean;
  /**
   * Returns the exit code: see `Exit`. Import the implementation lazily, so that `--help` stays
   * fast.
   */
  run(call: Call<O>): Promise<number>;
}

/** Commands with a common first word: `temporalex workflow ...`. */
export interface Group {
  readonly summary: string;
  readonly description?: string;
  /** Command that is used if none is named. */
  readonly fallback?: string;
  readonly commands: Commands;
}

export interface Commands {
  // deno-lint-ignore no-explicit-any
  readonly [name: string]: Command<any> | Group;
}

export const isGroup = (entry: Command | Group): entry is Group => "commands" in entry;

/** Describes a command; infers the types of its options. */
export function command<const O extends Options>(description: Command<O>): Command<O> {
  return description;
}

/** Returns the option on the command line: "--workflow-id" for `workflowId`. */
export const flagOf = (name: string): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
