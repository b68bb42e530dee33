// Completion for fish.
import type { Node, NodeOption } from "./nodes.ts";

const quoted = (text: string): string => `'${text.replace(/[\\']/g, "\\$&")}'`;
const condition = (path: readonly string[]): string =>
  `-n ${quoted(`__temporalex_is "${path.join(" ")}"`)}`;

function optionLines(path: readonly string[], option: NodeOption): string[] {
  const value = !option.takesValue
    ? ""
    : option.choices.length > 0
    ? ` -x -a ${quoted(option.choices.join(" "))}`
    : option.files
    ? " -r -F"
    : option.folders
    ? " -x -a '(__fish_complete_directories)'"
    : " -x";
  const [first, ...aliases] = option.flags;
  const short = option.short === undefined ? "" : ` -s ${option.short.slice(1)}`;
  return [
    `complete -c temporalex ${condition(path)}${short} -l ${first!.slice(2)}${value} -d ${
      quoted(option.help)
    }`,
    ...aliases.map((flag) =>
      `complete -c temporalex ${condition(path)} -l ${flag.slice(2)}${value} -d ${
        quoted(`the same as ${first}`)
      }`
    ),
  ];
}

function nodeLines(node: Node): string[] {
  const { path, args } = node;
  return [
    ...node.words.map(({ name, summary }) =>
      `complete -c temporalex ${condition(path)} -a ${name} -d ${quoted(summary)}`
    ),
    ...(args === undefined
      ? []
      : args.choices.map((choice) => `complete -c temporalex ${condition(path)} -a ${choice}`)),
    ...(args?.files ? [`complete -c temporalex ${condition(path)} -F`] : []),
    ...node.options.flatMap((option) => optionLines(path, option)),
  ];
}

export function fishScript(nodes: readonly Node[]): string {
  const known = nodes.slice(1).map(({ path }) => quoted(path.join(" "))).join(" ");
  return `# Completion of temporalex for fish. Put it into ~/.config/fish/completions/temporalex.fish
function __temporalex_at
  set -l at
  for word in (commandline -opc)[2..-1]
    set -l next (string join -- " " $at $word)
    if contains -- $next ${known}
      set at $at $word
    end
  end
  string join -- " " $at
end

function __temporalex_is
  set -l at (__temporalex_at)
  test "$at" = "$argv[1]"
end

complete -c temporalex -f
${nodes.flatMap(nodeLines).join("\n")}
`;
}
