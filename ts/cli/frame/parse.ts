// Parses a command line into option values. `util.parseArgs` (in Node and Deno) splits the words,
// with `--name=value`, `-abc` and `--`; this file interprets them and has all messages.
import { parseArgs } from "node:util";
import { toMs } from "../../converter/duration.ts";
import type { Io } from "../io.ts";
import { type Command, flagOf, type Option, type Options } from "./command.ts";
import { UsageError } from "./errors.ts";
import { didYouMean } from "./suggest.ts";

/** Options of every command. */
export const FRAME_OPTIONS = {
  output: {
    type: "text",
    short: "o",
    value: "format",
    choices: ["text", "json", "jsonl", "none"],
    help: "Output format",
  },
  json: { type: "flag", help: "Same as --output json" },
  color: {
    type: "text",
    value: "when",
    choices: ["auto", "always", "never"],
    default: "auto",
    help: "Colors in the output; NO_COLOR disables them",
  },
  help: { type: "flag", short: "h", help: "Show this help" },
} as const satisfies Options;

export interface Parsed {
  readonly values: { readonly [name: string]: unknown };
  readonly args: readonly string[];
  /** Names of the given options. */
  readonly given: ReadonlySet<string>;
}

/** Returns all long names of options, including aliases. */
function longNames(
  options: Options,
): ReadonlyMap<string, { readonly name: string; readonly option: Option }> {
  return new Map(
    Object.entries(options).flatMap(([name, option]) =>
      [name, ...option.aliases ?? []].map((alias) =>
        [flagOf(alias).slice(2), { name, option }] as const
      )
    ),
  );
}

/**
 * Parses the words after a command's name. Throws a UsageError for unknown options and invalid
 * values. With `--help`, nothing is checked.
 */
export function parseWords(
  words: readonly string[],
  title: string,
  command: Command,
  io: Pick<Io, "env">,
): Parsed {
  const options: Options = { ...FRAME_OPTIONS, ...command.options };
  const known = longNames(options);
  const help = `see temporalex ${title} --help`;
  const { tokens } = parseArgs({
    args: [...words],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      [...known].map(([long, { name, option }]) => [long, {
        type: option.type === "flag" || option.bare !== undefined
          ? "boolean" as const
          : "string" as const,
        multiple: true,
        ...(option.short !== undefined && flagOf(name).slice(2) === long &&
          { short: option.short }),
      }]),
    ),
  });
  const given = new Map<string, string[]>();
  const args: string[] = [];
  const wantsHelp = tokens.some((token) => token.kind === "option" && token.name === "help");
  for (const token of tokens) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional") {
      args.push(token.value);
      continue;
    }
    const found = known.get(token.name);
    if (found === undefined) {
      if (wantsHelp) continue;
      const near = didYouMean(token.rawName, [...known.keys()].map((name) => `--${name}`));
      throw new UsageError(
        `Unknown option '${token.rawName}'${near === "" ? "; " : `${near} `}${
          near === "" ? help : `(${help})`
        }`,
      );
    }
    const { name, option } = found;
    if (option.type === "flag") {
      if (token.inlineValue === true && token.value !== "true" && token.value !== "false") {
        throw new UsageError(`${token.rawName} takes no value ("${token.value}"); ${help}`);
      }
      given.set(name, [token.inlineValue === true ? token.value! : "true"]);
      continue;
    }
    if (option.bare !== undefined && token.inlineValue !== true) {
      const next = words[token.index + 1];
      if (next !== undefined && option.choices?.includes(next) === true) {
        throw new UsageError(`write ${token.rawName}=${next}, with "="; ${help}`);
      }
      given.set(name, [option.bare]);
      continue;
    }
    const { value } = token;
    // A word with a leading dash is the next option, unless it can only be a value: a negative
    // number, or "-" for standard input.
    if (value === undefined || (token.inlineValue !== true && /^-[^\d.]/.test(value))) {
      if (wantsHelp) continue;
      const example = value === undefined
        ? ""
        : `; a value that begins with a dash is written ${flagOf(name)}=${value}`;
      throw new UsageError(
        `${token.rawName} needs a value <${valueName(option)}>${example}; ${help}`,
      );
    }
    const values = given.get(name) ?? [];
    if (values.length > 0 && option.many !== true) {
      throw new UsageError(`${token.rawName} is given twice; ${help}`);
    }
    given.set(name, [...values, value]);
  }
  const names = new Set(given.keys());
  if (wantsHelp) return { values: { help: true }, args, given: names };
  return {
    values: readValues(options, given, command.args === undefined ? args : [], help, io),
    args: checkArgs(command, args, help),
    given: names,
  };
}

export const valueName = (option: Option): string =>
  option.value ?? option.choices?.join("|") ?? option.type;

function readValues(
  options: Options,
  given: ReadonlyMap<string, string[]>,
  stray: readonly string[],
  help: string,
  io: Pick<Io, "env">,
) {
  const values: { [name: string]: unknown } = {};
  const missing: string[] = [];
  for (const [name, option] of Object.entries(options)) {
    const flag = flagOf(name);
    const fromEnv = option.env === undefined ? undefined : io.env[option.env];
    const texts = given.get(name) ?? (fromEnv === undefined || fromEnv === "" ? [] : [fromEnv]);
    const source = given.has(name) || option.env === undefined ? flag : `${option.env} (${flag})`;
    if (option.type === "flag") {
      values[name] = texts.length > 0 && texts[0] !== "false" && texts[0] !== "0";
    } else if (option.many === true) {
      values[name] = texts.map((text) => readValue(text, option, source, help));
    } else if (texts.length > 0) values[name] = readValue(texts[0]!, option, source, help);
    else if (typeof option.default === "string") {
      values[name] = readValue(option.default, option, source, help);
    } else if (option.default !== undefined) values[name] = option.default;
    else if (option.required !== true) values[name] = undefined;
    if (option.required === true && texts.length === 0) {
      missing.push(`${flag} <${valueName(option)}>`);
    }
  }
  if (missing.length > 0) {
    const flag = missing[0]!.replace(/ .*/, "");
    const meant = missing.length === 1 && stray.length === 1
      ? ` (did you mean ${flag} ${stray[0]}?)`
      : "";
    throw new UsageError(
      `${missing.join(" and ")} ${missing.length > 1 ? "are" : "is"} missing${meant}; ${help}`,
    );
  }
  return values;
}

const plain = (text: string): string => text.toLowerCase().replace(/[-_ ]/g, "");

/** Placeholders of values that are names. */
const NAMES: ReadonlySet<string | undefined> = new Set(["id", "name"]);

function readValue(text: string, option: Option, source: string, help: string): string | number {
  // An empty name is usually caused by a shell variable that is not set.
  if (
    text === "" && option.type === "text" && (option.required === true || NAMES.has(option.value))
  ) {
    throw new UsageError(`${source} is empty; ${help}`);
  }
  if (option.choices !== undefined) {
    const found = option.choices.find((choice) => plain(choice) === plain(text));
    if (found !== undefined) return found;
    throw new UsageError(
      `${source} is one of ${option.choices.join(", ")}, not "${text}"${
        didYouMean(text, option.choices)
      }`,
    );
  }
  if (option.type === "number") {
    const number = text.trim() === "" ? NaN : Number(text);
    if (!Number.isFinite(number)) {
      throw new UsageError(`${source} is a number, not "${text}"; ${help}`);
    }
    return number;
  }
  if (option.type === "duration") {
    try {
      return toMs(/^\s*\d+\s*$/.test(text) ? `${text}s` : text);
    } catch {
      throw new UsageError(
        `${source} is a duration such as 30s, 5m or 1.5h (a bare number is seconds), not "${text}"; ${help}`,
      );
    }
  }
  return text;
}

function checkArgs(
  { args: described }: Command,
  args: readonly string[],
  help: string,
): readonly string[] {
  if (described === undefined && args.length > 0) {
    throw new UsageError(
      `"${args[0]}" is not expected here; ${help}. (Is a text with spaces missing its quotes?)`,
    );
  }
  if (described?.many !== true && args.length > 1) {
    throw new UsageError(
      `one <${described!.name}> is expected, not ${args.length} ("${args[1]}"); ${help}`,
    );
  }
  if (described?.required === true && args.length === 0) {
    throw new UsageError(`<${described.name}> is missing; ${help}`);
  }
  if (described?.choices !== undefined) {
    for (const arg of args) {
      if (described.choices.includes(arg)) continue;
      throw new UsageError(
        `<${described.name}> is one of ${described.choices.join(", ")}, not "${arg}"${
          didYouMean(arg, described.choices)
        }`,
      );
    }
  }
  return args;
}
