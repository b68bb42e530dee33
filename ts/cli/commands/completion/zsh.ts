// Completion for zsh, with its own _arguments.
import type { Node, NodeOption } from "./nodes.ts";

const functionOf = (path: readonly string[]): string => ["_temporalex", ...path].join("_");
/** Escapes a text for single quotes in _arguments. */
const quoted = (text: string): string => text.replace(/'/g, "'\\''");
const inBrackets = (text: string): string =>
  quoted(text.replace(/[[\]\\]/g, "\\$&").replace(/:/g, "\\:"));

function spec(option: NodeOption): string[] {
  const names = [...(option.short === undefined ? [] : [option.short]), ...option.flags];
  const action = option.choices.length > 0
    ? `(${option.choices.join(" ")})`
    : option.files
    ? "_files"
    : option.folders
    ? "_files -/"
    : " ";
  const value = option.takesValue ? `:${inBrackets(option.value)}:${action}` : "";
  return names.map((name) => {
    const repeated = option.many ? "*" : `(${names.join(" ")})`;
    const equals = option.takesValue && name.startsWith("--") ? "=" : "";
    return `'${repeated}${name}${equals}[${inBrackets(option.help)}]${value}'`;
  });
}

function commandFunction(node: Node): string {
  const { args } = node;
  const rest = args === undefined ? [] : [
    `'${args.many ? "*" : "1"}:${inBrackets(args.name)}:${
      args.choices.length > 0 ? `(${args.choices.join(" ")})` : args.files ? "_files" : " "
    }'`,
  ];
  return `${functionOf(node.path)}() {
  _arguments \\
    ${[...node.options.flatMap(spec), ...rest].join(" \\\n    ")}
}`;
}

function groupFunction(node: Node): string {
  const names = node.words.map(({ name, summary }) =>
    `      '${quoted(name.replace(/:/g, "\\:"))}:${quoted(summary)}'`
  ).join(
    "\n",
  );
  return `${functionOf(node.path)}() {
  local curcontext="$curcontext" state line
  local -a commands
  _arguments -C \\
    ${[...node.options.flatMap(spec), "'1: :->command'", "'*:: :->rest'"].join(" \\\n    ")}
  case $state in
    command)
      commands=(
${names}
      )
      _describe 'command' commands ;;
    rest)
      case $line[1] in
${
    node.words.filter(({ name }) => name !== "help").map(({ name }) =>
      `        ${name}) ${functionOf([...node.path, name])} ;;`
    )
      .join("\n")
  }
      esac ;;
  esac
}`;
}

export function zshScript(nodes: readonly Node[]): string {
  return `#compdef temporalex
# Completion of temporalex for zsh. Put it into a folder of $fpath as _temporalex, or: source <(temporalex completion zsh)

${
    nodes.map((node) => node.words.length > 0 ? groupFunction(node) : commandFunction(node)).join(
      "\n\n",
    )
  }

if [ "$funcstack[1]" = "_temporalex" ]; then
  _temporalex "$@"
else
  compdef _temporalex temporalex
fi
`;
}
