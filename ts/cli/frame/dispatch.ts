// Finds the command, parses its options, runs it, and converts errors to messages and exit codes.
import type { Io } from "../io.ts";
import { VERSION } from "../../base/version.ts";
import { type Command, type Commands, type Group, isGroup, type Values } from "./command.ts";
import { Exit } from "./exit.ts";
import { errorDocument, exitCodeOf, formatError, UsageError } from "./errors.ts";
import { commandHelp, groupHelp, mainHelp } from "./help.ts";
import { type FRAME_OPTIONS, type Parsed, parseWords } from "./parse.ts";
import { Printer } from "./printer.ts";
import { didYouMean } from "./suggest.ts";

interface Found {
  readonly title: string;
  readonly entry: Command | Group | undefined;
  readonly rest: readonly string[];
}

/**
 * Suggests a command of a group that was named without its group. Exact names precede similar ones.
 */
function ofAGroup(commands: Commands, word: string): string {
  const group = Object.keys(commands).find((name) => {
    const entry = commands[name]!;
    return isGroup(entry) && Object.hasOwn(entry.commands, word);
  });
  return group === undefined ? "" : `. Did you mean ${group} ${word}?`;
}

/** Follows the words in the table as far as they name commands. */
function find(commands: Commands, words: readonly string[]): Found {
  const title: string[] = [];
  let level = commands;
  let entry: Command | Group | undefined;
  let rest = words;
  for (;;) {
    const [word] = rest;
    const group = entry !== undefined && isGroup(entry) ? entry : undefined;
    if (word === undefined || word.startsWith("-")) {
      const asksForGroup = word === "--help" || word === "-h" || word === undefined;
      if (group?.fallback === undefined || asksForGroup) {
        return { title: title.join(" "), entry, rest };
      }
      return {
        title: [...title, group.fallback].join(" "),
        entry: group.commands[group.fallback],
        rest,
      };
    }
    if (!Object.hasOwn(level, word)) {
      const names = Object.keys(level);
      const where = title.length === 0 ? "" : `${title.join(" ")} `;
      const near = title.length === 0
        ? ofAGroup(commands, word) || didYouMean(word, names)
        : didYouMean(word, names);
      throw new UsageError(
        `unknown command "${where}${word}"; commands: ${names.join(", ")}${near}`,
      );
    }
    title.push(word);
    entry = level[word]!;
    rest = rest.slice(1);
    if (!isGroup(entry)) return { title: title.join(" "), entry, rest };
    level = entry.commands;
  }
}

/** Runs a command line with a table of commands. Returns the exit code. Never throws. */
export async function dispatch(
  commands: Commands,
  words: readonly string[],
  io: Io,
): Promise<number> {
  // With --json, errors of the command line are JSON as well.
  let json = asksForJson(words);
  try {
    const [first, ...more] = words;
    if (first === undefined) {
      io.err(mainHelp(commands, io));
      return Exit.usage;
    }
    if (
      first === "--version" || first === "-v" ||
      (first === "version" && !Object.hasOwn(commands, first))
    ) {
      io.out(json ? `${JSON.stringify({ version: VERSION })}\n` : `${VERSION}\n`);
      return Exit.ok;
    }
    const wantsHelp = first === "help" || first === "--help" || first === "-h";
    if (!wantsHelp && first.startsWith("-")) {
      throw new UsageError(`options follow the command: temporalex <command> ${first} ...`);
    }
    const { title, entry, rest } = find(commands, wantsHelp ? more : words);
    if (entry === undefined) {
      io.out(mainHelp(commands, io));
      return Exit.ok;
    }
    if (isGroup(entry)) {
      if (!wantsHelp && rest.length === 0) {
        io.err(groupHelp(title, entry, io));
        return Exit.usage;
      }
      io.out(groupHelp(title, entry, io));
      return Exit.ok;
    }
    const parsed: Parsed = wantsHelp
      ? { values: { help: true }, args: [], given: new Set() }
      : parseWords(rest, title, entry, io);
    if (parsed.values["help"] === true) {
      io.out(commandHelp(title, entry, io));
      return Exit.ok;
    }
    const { output, json: jsonFlag, color } = parsed.values as unknown as Values<
      typeof FRAME_OPTIONS
    >;
    if (jsonFlag && output !== undefined && output !== "json" && output !== "jsonl") {
      throw new UsageError(`--json and --output ${output} cannot be used together`);
    }
    const asked = output ?? (jsonFlag ? "json" : undefined);
    json = asked === "json" || asked === "jsonl";
    const format = asked ?? (io.terminal ? "text" : entry.piped ?? "text");
    const colors = color === "always" || (color === "auto" && io.colors);
    const print = new Printer(
      io,
      format === "json" && entry.lines === true ? "jsonl" : format,
      colors,
    );
    const { args, given } = parsed;
    const call = {
      name: title,
      options: parsed.values as never,
      given,
      args,
      io,
      print,
      signal: io.interrupt,
    };
    return await (entry.drains === true
      ? entry.run(call)
      : untilInterrupted(entry.run(call), io.interrupt));
  } catch (error) {
    if (json) io.err(`${JSON.stringify(errorDocument(error))}\n`);
    else io.err(formatError(error, io.env["TEMPORALEX_DEBUG"] === "1"));
    return exitCodeOf(error);
  }
}

function asksForJson(words: readonly string[]): boolean {
  return words.some((word, i) =>
    word === "--json" || word === "-ojson" || /^--output=jsonl?$/.test(word) ||
    (/^jsonl?$/.test(word) && (words[i - 1] === "-o" || words[i - 1] === "--output"))
  );
}

/** Abandons the command on interruption; its remaining work ends with the process. */
function untilInterrupted(running: Promise<number>, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
    running.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
