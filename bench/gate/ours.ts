// `temporalex replay` in this process, with what it cost. Arguments: the folder of the published
// package ("": the checkout), module, folder of histories, more options.
import process from "node:process";
import { pathToFileURL } from "node:url";
import type * as CommandLine from "../../ts/cli/main.ts";
import { processIo } from "../../ts/cli/io.ts";

const [published, module, folder, ...more] = process.argv.slice(2) as [string, string, string];
const { main }: typeof CommandLine = published === ""
  ? await import("../../ts/cli/main.ts")
  : await import(`${pathToFileURL(published)}/dist/node/cli/main.js`);
let last = "";
const out = (text: string) => void (last = text);
const code = await main(["replay", "--workflows", module, "--json", ...more, folder], {
  ...processIo(),
  out,
});
const { summary } = JSON.parse(last);
if (code !== 0) console.error(JSON.stringify(summary.groups, undefined, 1));
const { user, system } = process.cpuUsage();
console.log(
  JSON.stringify({
    histories: summary.histories,
    ok: summary.verdicts.ok,
    cpuMs: (user + system) / 1000,
  }),
);
process.exit(0);
