import { command, type Commands } from "../../frame/command.ts";
import { options } from "./options.ts";

/** `all`: the table of commands, including this one. */
export const completion = (all: () => Commands) =>
  command({
    summary: "write a script that completes commands and options in a shell",
    description: "Writes a completion script for a shell to standard output.",
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
        what: "bash, for this shell; put the line into ~/.bashrc for all",
      },
      { line: 'temporalex completion zsh > "${fpath[1]}/_temporalex"', what: "zsh" },
      {
        line: "temporalex completion fish > ~/.config/fish/completions/temporalex.fish",
        what: "fish",
      },
    ],
    run: async (call) => (await import("./run.ts")).completionCommand(call, all()),
  });
