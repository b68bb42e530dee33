// `temporalex completion`: shell scripts from the table of commands. They contain all names, so
// that completion starts no process.
import type { Commands } from "../../frame/command.ts";
import type { CompletionCall } from "./options.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { nodesOf } from "./nodes.ts";
import { zshScript } from "./zsh.ts";

const SHELLS: { readonly [shell: string]: typeof bashScript } = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export function completionCommand(
  { args, io, print }: CompletionCall,
  all: Commands,
): Promise<number> {
  const shell = args[0]!;
  const script = SHELLS[shell]!(nodesOf(all));
  if (print.json) print.result({ shell, script }, () => "");
  else io.out(script);
  return Promise.resolve(0);
}
