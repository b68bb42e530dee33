// Command lines of the tools in tools/*.mjs: `--help` prints the usage, and a wrong argument ends
// the tool before it does anything.
import process from "node:process";
import { parseArgs } from "node:util";

/**
 * Returns the options and the other arguments of this process. Ends the process with 0 after
 * `--help` or `-h`, with 2 after a wrong argument.
 *
 * @param {string} help Text that begins with "usage: ".
 * @param {{ readonly [name: string]: { readonly type: "string" | "boolean" } }} [options]
 * @param {{ readonly least?: number, readonly most?: number }} [others] Number of other arguments.
 */
export function readCommandLine(help, options = {}, { least = 0, most = 0 } = {}) {
  const wrong = (message) => {
    console.error(`${message}\n\n${help}`);
    process.exit(2);
  };
  let parsed;
  try {
    parsed = parseArgs({
      options: { ...options, help: { type: "boolean", short: "h" } },
      allowPositionals: true,
    });
  } catch (error) {
    // Node's advice after the first sentence is about programs that take any argument.
    return wrong(error.message.split(". ")[0]);
  }
  const { values, positionals } = parsed;
  if (values.help) {
    console.log(help);
    process.exit(0);
  }
  if (positionals.length > most) return wrong(`Unexpected argument '${positionals[most]}'`);
  if (positionals.length < least) return wrong("An argument is missing");
  return { values, positionals };
}
