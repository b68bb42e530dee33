// What a command is: its name, its options, its help, and the function that carries it out. A description is data, so that the parser, the
// help and the shell completion are all made from it, and the types of the values too. How a command is added: see ../table.ts.
import type { Io } from "../io.ts";
import type { Printer } from "./printer.ts";

/** One option. Its name is the key in camel case: `workflowId` is `--workflow-id`. */
export interface Option {
  /** flag: given or not. duration: "90s", "5m", "1.5 hours", as milliseconds. number: a finite number. */
  readonly type: "text" | "flag" | "number" | "duration";
  /** One letter, for `-w`. */
  readonly short?: string;
  /** More long names that mean the same, in camel case. */
  readonly aliases?: readonly string[];
  /** What stands for the value in the help, without brackets: "path". An "id" and a "name" are never empty, and nothing required is. */
  readonly value?: string;
  /** The only values; compared without regard to case, "-" and "_". */
  readonly choices?: readonly string[];
  /** May be given several times; the value is a list, empty when it was not given. */
  readonly many?: boolean;
  readonly required?: boolean;
  /** Value when it is not given; the help shows it. */
  readonly default?: string | number;
  /** Environment variable that gives the value where the option does not. */
  readonly env?: string;
  /** One or two sentences, without a full stop at the end. */
  readonly help: string;
  /** What a shell completes values with, beside `choices`. */
  readonly completes?: "files" | "folders";
  /** Title of the part of the help that it stands in. Default: Options. */
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
  : O extends { readonly type: "flag" } | { readonly required: true } | { readonly default: string | number } ? Single<O>
  : Single<O> | undefined;

export type Values<O extends Options> = { readonly [N in keyof O]: Value<O[N]> };

/** What a command's function is given. */
export interface Call<O extends Options = Options> {
  /** As it was called: "workflow start". */
  readonly name: string;
  readonly options: Values<O>;
  /** Names of the options that stood on the command line itself, not in the environment and not by default. */
  readonly given: ReadonlySet<string>;
  /** What is not an option. */
  readonly args: readonly string[];
  readonly io: Io;
  /** Writes results, in the format that was asked for. */
  readonly print: Printer;
  /** Aborted by Ctrl-C and SIGTERM. A command that does not say `drains` need not look at it. */
  readonly signal: AbortSignal;
}

export interface Command<O extends Options = Options> {
  /** One line, for the list of commands. */
  readonly summary: string;
  /** What it does, in a paragraph or two. */
  readonly description?: string;
  readonly options: O;
  /** What may follow that is no option. Default: nothing. */
  readonly args?: {
    readonly name: string;
    readonly many?: boolean;
    readonly required?: boolean;
    readonly help: string;
    readonly completes?: "files" | "folders";
    readonly choices?: readonly string[];
  };
  /** Lines under "Exit code", where the command has more to say than the frame. */
  readonly exits?: readonly string[];
  /** More text for the help, after the options. */
  readonly notes?: string;
  /** Command lines, each with what it is for. At least one. */
  readonly examples: readonly { readonly line: string; readonly what?: string }[];
  /** Results come one by one: `--json` writes JSON lines, not one document. */
  readonly lines?: boolean;
  /** Format where standard output is no terminal and no format was asked for. Default: text. */
  readonly piped?: "jsonl";
  /**
   * The command stops by itself, and cleanly, when `signal` is aborted; it then returns an exit code of its choice. Without this the frame
   * gives the command up at the first Ctrl-C. The second Ctrl-C always ends the process at once.
   */
  readonly drains?: boolean;
  /** The exit code: see `Exit`. Import the code behind it here, lazily, so that `--help` stays quick. */
  run(call: Call<O>): Promise<number>;
}

/** Commands under one name: `temporalex workflow ...`. */
export interface Group {
  readonly summary: string;
  readonly description?: string;
  /** The command that is meant where none is named. */
  readonly fallback?: string;
  readonly commands: Commands;
}

export interface Commands {
  // deno-lint-ignore no-explicit-any
  readonly [name: string]: Command<any> | Group;
}

export const isGroup = (entry: Command | Group): entry is Group => "commands" in entry;

/** Describes a command; exists for the types of the options. */
export function command<const O extends Options>(description: Command<O>): Command<O> {
  return description;
}

/** The option on the command line: "--workflow-id" for `workflowId`. */
export const flagOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
