// Help texts, generated from the table of commands.
import type { Io } from "../io.ts";
import {
  type Command,
  type Commands,
  flagOf,
  type Group,
  isGroup,
  type Option,
  type Options,
} from "./command.ts";
import { FRAME_OPTIONS, valueName } from "./parse.ts";
import { showMs } from "../text/times.ts";

const MAX_WIDTH = 100;

/** Wraps a text at `width` characters; keeps its line breaks and indentation. */
export function wrap(text: string, width: number): string[] {
  return text.split("\n").flatMap((paragraph) => {
    const indent = /^ */.exec(paragraph)![0];
    const lines: string[] = [];
    let line = "";
    for (const word of paragraph.slice(indent.length).split(" ")) {
      if (line !== "" && indent.length + line.length + 1 + word.length > width) {
        lines.push(indent + line);
        line = word;
      } else line = line === "" ? word : `${line} ${word}`;
    }
    return [...lines, indent + line];
  });
}

/** Two columns: names and descriptions. Long names have a separate line. */
function columns(rows: readonly (readonly [string, string])[], width: number): string {
  const left = Math.min(28, Math.max(...rows.map(([name]) => name.length)));
  return rows.map(([name, text]) => {
    const lines = wrap(text, Math.max(30, width - left - 4));
    const first = name.length > left
      ? [`  ${name}`, `  ${" ".repeat(left)}  ${lines[0]}`]
      : [`  ${name.padEnd(left)}  ${lines[0]}`];
    return [...first, ...lines.slice(1).map((line) => `  ${" ".repeat(left)}  ${line}`)].join("\n");
  }).join("\n") + "\n";
}

function optionRow([name, option]: readonly [string, Option]): readonly [string, string] {
  const value = option.type === "flag"
    ? ""
    : option.bare !== undefined
    ? `[=${valueName(option)}]`
    : ` <${valueName(option)}>`;
  const short = option.short === undefined ? "    " : `-${option.short}, `;
  const notes = [
    option.choices !== undefined && option.value !== undefined
      ? `one of ${option.choices.join(", ")}`
      : "",
    option.aliases === undefined ? "" : `also ${option.aliases.map(flagOf).join(", ")}`,
    option.many === true ? "repeatable" : "",
    option.env === undefined ? "" : `or ${option.env}`,
    option.default === undefined ? "" : `default: ${defaultText(option)}`,
    option.required === true ? "required" : "",
  ].filter((note) => note !== "");
  return [
    `${short}${flagOf(name)}${value}`,
    `${option.help}${notes.length > 0 ? ` (${notes.join("; ")})` : ""}`,
  ];
}

function defaultText({ type, choices, default: value }: Option): string {
  if (type === "duration" && typeof value === "number") return showMs(value)!;
  return type === "text" && choices === undefined ? JSON.stringify(value) : String(value);
}

const indent = (text: string): string =>
  text.split("\n").map((line) => line === "" ? "" : `  ${line}`).join("\n");

const sectionOf = (option: Option): string => option.section ?? "Options";

export function commandHelp(title: string, command: Command, io: Io): string {
  const width = Math.min(io.width, MAX_WIDTH);
  const options = Object.entries(command.options as Options);
  const required = options.filter(([, option]) => option.required === true)
    .map(([name, option]) => ` ${flagOf(name)} <${valueName(option)}>`).join("");
  const sections = [...new Set(options.map(([, option]) => sectionOf(option)))];
  const { args } = command;
  const rest = args === undefined
    ? ""
    : args.required === true
    ? ` <${args.name}>${args.many ? "..." : ""}`
    : ` [${args.name}]${args.many ? "..." : ""}`;
  const parts = [
    `usage: temporalex ${title}${required}${options.length > 0 ? " [options]" : ""}${rest}\n`,
    wrap(
      command.description ?? `${command.summary[0]!.toUpperCase()}${command.summary.slice(1)}.`,
      width,
    ).join("\n") + "\n",
    `Examples:\n${
      command.examples.map(({ line, what }) =>
        `${what === undefined ? "" : indent(`# ${what}\n`)}${indent(line)}`
      ).join("\n")
    }\n`,
    ...(args === undefined
      ? []
      : [`Arguments:\n${columns([[`<${args.name}>`, args.help]], width)}`]),
    ...sections.map((section) =>
      `${section}:\n${
        columns(options.filter(([, option]) => sectionOf(option) === section).map(optionRow), width)
      }`
    ),
    `Global options:\n${columns(Object.entries(FRAME_OPTIONS as Options).map(optionRow), width)}`,
    ...(command.notes === undefined ? [] : [`${wrap(command.notes, width).join("\n")}\n`]),
    `${
      wrap(
        `Exit code: ${
          command.exits?.join("; ") ??
            "0 success; 1 the command failed; 2 wrong usage, nothing was changed"
        }; 130 ended by ${
          command.exits?.some((exit) => exit.includes("Ctrl-C")) === true ? "a second " : ""
        }Ctrl-C.`,
        width,
      ).join("\n")
    }\n`,
  ];
  return parts.join("\n");
}

function names(commands: Commands): readonly (readonly [string, string])[] {
  return Object.entries(commands).map(([name, { summary }]) => [name, summary] as const);
}

export function groupHelp(title: string, group: Group, io: Io): string {
  const width = Math.min(io.width, MAX_WIDTH);
  const { fallback } = group;
  return [
    `usage: temporalex ${title} <command> [options]\n`,
    ...(group.description === undefined ? [] : [`${wrap(group.description, width).join("\n")}\n`]),
    `Commands:\n${columns(names(group.commands), width)}`,
    ...(fallback === undefined ? [] : [`Default command: ${fallback}.\n`]),
    `  temporalex ${title} <command> --help   shows the options of a command, with examples\n`,
  ].join("\n");
}

export function mainHelp(commands: Commands, io: Io): string {
  const width = Math.min(io.width, MAX_WIDTH);
  const rows = Object.entries(commands).flatMap(([name, entry]): (readonly [string, string])[] =>
    isGroup(entry)
      ? [
        [name, entry.summary],
        ...names(entry.commands).map(([sub, summary]) => [`  ${sub}`, summary] as const),
      ]
      : [[name, entry.summary]]
  );
  return [
    "usage: temporalex <command> [options]\n",
    "Durable workflows in one file, or on a Temporal cluster.\n",
    `Commands:\n${columns(rows, width)}`,
    `  temporalex <command> --help   shows the options of a command, with examples
  temporalex --version          shows the version
`,
  ].join("\n");
}
