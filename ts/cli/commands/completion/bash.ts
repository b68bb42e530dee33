// Completion for bash, including macOS's version 3.2, without dependencies.
import type { Node, NodeOption } from "./nodes.ts";

const pathOf = (path: readonly string[]): string => path.map((word) => `/${word}`).join("");

function values(option: NodeOption): string {
  const names = [...option.flags, ...(option.short === undefined ? [] : [option.short])].join("|");
  const answer = option.choices.length > 0
    ? `_temporalex_words "${option.choices.join(" ")}"`
    : option.files
    ? "_temporalex_files -f"
    : option.folders
    ? "_temporalex_files -d"
    : ":";
  return `        ${names}) ${answer}; return ;;`;
}

function branch(node: Node): string {
  const taking = node.options.filter(({ takesValue }) => takesValue);
  const flags = node.options.flatMap((
    { flags, short },
  ) => [...flags, ...(short === undefined ? [] : [short])]);
  const words = [...node.words.map(({ name }) => name), ...node.args?.choices ?? []];
  return [
    `    "${pathOf(node.path)}")`,
    ...(taking.length === 0 ? [] : [`      case "$prev" in`, ...taking.map(values), "      esac"]),
    `      flags="${flags.join(" ")}"`,
    `      words="${words.join(" ")}"`,
    `      files=${node.args?.files ? 1 : 0} ;;`,
  ].join("\n");
}

export function bashScript(nodes: readonly Node[]): string {
  const steps = nodes.slice(1).map(({ path }) => `"${pathOf(path)}"`);
  return `# Completion of temporalex for bash. Load it with: source <(temporalex completion bash)
_temporalex_words() {
  local IFS=$' \\t\\n'
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

_temporalex_files() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen "$1" -- "$cur"))
  compopt -o filenames 2>/dev/null
}

_temporalex() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}" at="" flags="" words="" files=0 i
  COMPREPLY=()
  # bash takes --name=value apart at the "=".
  if [[ "$cur" == "=" ]]; then
    cur=""
  elif [[ "$prev" == "=" ]]; then
    prev="\${COMP_WORDS[COMP_CWORD - 2]}"
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at/\${COMP_WORDS[i]}" in
      ${steps.join("|")}) at="$at/\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at" in
${nodes.map(branch).join("\n")}
  esac
  if [[ "$cur" == -* ]]; then
    _temporalex_words "$flags"
  elif [[ -n "$words" ]]; then
    _temporalex_words "$words"
  elif [[ "$files" == 1 ]]; then
    _temporalex_files -f
  fi
}

complete -F _temporalex temporalex
`;
}
