import { command, type Commands } from "../../frame/command.ts";
import { options } from "./options.ts";

/** `all`: the table of commands, including this one. */
export const completion = (all: () => Commands) =>
  command({
    summary: "print a shell completion script",
    description: "Prints a script that completes commands and options in a shell.",
    options,
    args: {
      name: "shell",
      required: true,
      choices: ["bash", "zsh", "fish"],
      help: "bash, zsh or fish",
    },
    examples: [
      {
        line: "source <(temporalex completion bash)",
        what: "bash, for the current shell; add the line to ~/.bashrc for all shells",
      },
      { line: 'temporalex completion zsh > "${fpath[1]}/_temporalex"', what: "zsh" },
      {
        line: "temporalex completion fish > ~/.config/fish/completions/temporalex.fish",
        what: "fish",
      },
    ],
    run: async (call) => (await import("./run.ts")).completionCommand(call, all()),
  });
