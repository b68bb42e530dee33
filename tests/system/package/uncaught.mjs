// Programs that end with an uncaught error of the package, with their output in a pipe: the message
// arrives, and the code around it is short.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { otherNode, project } from "./project_steps.mjs";

/** A few stack frames, the line that throws, and the message. */
const OUTPUT_CHARS = 8000;
const LINE_CHARS = 500;

const OPEN = `import { open } from "temporalex";
const charge = async () => "paid";
const app = await open({ path: "uncaught.sqlite", workflows: new URL("./workflows.ts", import.meta.url), activities: { charge } });
`;
/** By what is printed. */
const PROGRAMS = {
  "nothing was started": `${OPEN}await app.client.getHandle("nothing was started").result();`,
  already: `${OPEN}await app.client.start("Cart", { id: "a cart", args: ["ada"] });
await app.client.start("Cart", { id: "a cart", args: ["ada"] });`,
  workflows:
    `import { open } from "temporalex"; await open({ path: "uncaught.sqlite", workflows: 7 });`,
};

async function check(context, node) {
  const dir = await project(context);
  const lengths = [];
  for (const [message, text] of Object.entries(PROGRAMS)) {
    writeFileSync(join(dir, "app/uncaught.mjs"), text);
    const { status, output } = await context.run(node, ["uncaught.mjs"], {
      cwd: join(dir, "app"),
      timeoutMs: 60_000,
    });
    const shown = `${message}\n${output.slice(0, 2000)}`;
    assert.notEqual(status, 0, shown);
    assert.match(output, new RegExp(`Error.*(?:${message})`), shown);
    assert.match(output, /^ {4}at .*_temporalex_\w+\.js:\d+:\d+\)?$/m, shown);
    assert.ok(output.length < OUTPUT_CHARS, `${output.length} characters: ${shown}`);
    const longest = Math.max(...output.split("\n").map((line) => line.length));
    assert.ok(longest < LINE_CHARS, `a line of ${longest} characters: ${shown}`);
    lengths.push(output.length);
  }
  context.say(`${lengths.join(", ")} characters`);
}

export const uncaught = [
  {
    name: "an uncaught error of the package comes through a pipe, with little code around it",
    test: (context) => check(context, process.execPath),
  },
  ...[22, 24].map((version) => ({
    name:
      `Node ${version}: an uncaught error of the package comes through a pipe, with little code around it`,
    async test(context) {
      const { node, skip } = await otherNode(context, version);
      return skip === undefined ? await check(context, node) : { skip };
    },
  })),
];
