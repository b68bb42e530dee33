// Interceptors that tell the workflow of each conclusion of an activation.
// deno-lint-ignore-file no-explicit-any
import { hook } from "./concluded_hook.ts";

let times = 0;

const names = (command: any) =>
  Object.keys(command).filter((key) => command[key] != null && key !== "userMetadata");

export const interceptors = () => ({
  internals: [{
    concludeActivation(input: any, next: any) {
      const shown = input.commands.flatMap(names);
      const output = next(input);
      hook.concluded?.(shown.includes("respondToQuery") ? 0 : ++times, shown);
      return output;
    },
  }],
});
