// The table of commands for completion scripts: one node for each command and group, by its words.
import {
  type Command,
  type Commands,
  flagOf,
  type Group,
  isGroup,
  type Option,
  type Options,
} from "../../frame/command.ts";
import { FRAME_OPTIONS } from "../../frame/parse.ts";

export interface NodeOption {
  /** "--workflow-id", and its other names. */
  readonly flags: readonly string[];
  readonly short: string | undefined;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
  readonly files: boolean;
  readonly folders: boolean;
  readonly many: boolean;
  readonly help: string;
  readonly value: string;
}

export interface Node {
  /** ["workflow", "start"]; empty for the program itself. */
  readonly path: readonly string[];
  /** Commands under this one. */
  readonly words: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly NodeOption[];
  /** Positional arguments that may follow. */
  readonly args:
    | {
      readonly choices: readonly string[];
      readonly files: boolean;
      readonly many: boolean;
      readonly name: string;
    }
    | undefined;
}

const optionOf = ([name, option]: readonly [string, Option]): NodeOption => ({
  flags: [name, ...option.aliases ?? []].map(flagOf),
  short: option.short === undefined ? undefined : `-${option.short}`,
  takesValue: option.type !== "flag" && option.bare === undefined,
  choices: option.bare === undefined ? option.choices ?? [] : [],
  files: option.completes === "files",
  folders: option.completes === "folders",
  many: option.many === true,
  help: option.help.replace(/\s*\n\s*/g, " "),
  value: option.value ?? option.type,
});

const optionsOf = (options: Options): NodeOption[] =>
  Object.entries({ ...options, ...FRAME_OPTIONS }).map(optionOf);
const helpOnly = optionsOf({}).filter(({ flags }) => flags.includes("--help"));

function nodeOf(path: readonly string[], entry: Command | Group): Node {
  if (!isGroup(entry)) {
    const { args } = entry;
    return {
      path,
      words: [],
      options: optionsOf(entry.options as Options),
      args: args &&
        {
          choices: args.choices ?? [],
          files: args.completes === "files",
          many: args.many === true,
          name: args.name,
        },
    };
  }
  const fallback = entry.fallback === undefined ? undefined : entry.commands[entry.fallback];
  return {
    path,
    words: wordsOf(entry.commands),
    options: fallback === undefined || isGroup(fallback)
      ? helpOnly
      : optionsOf(fallback.options as Options),
    args: undefined,
  };
}

const wordsOf = (commands: Commands) =>
  Object.entries(commands).map(([name, { summary }]) => ({ name, summary }));

/** Returns all nodes, the program itself first. */
export function nodesOf(commands: Commands): Node[] {
  const below = (path: readonly string[], level: Commands): Node[] =>
    Object.entries(level).flatMap(([name, entry]) => {
      const here = [...path, name];
      return [nodeOf(here, entry), ...(isGroup(entry) ? below(here, entry.commands) : [])];
    });
  const root: Node = {
    path: [],
    words: [...wordsOf(commands), { name: "help", summary: "show help" }],
    options: helpOnly,
    args: undefined,
  };
  return [root, ...below([], commands)];
}
