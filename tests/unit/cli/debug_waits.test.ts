// `temporalex debug` states in the terminal why an open run waits.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { withRealm } from "../../cases/realm_host.ts";
import { inFolder, PAGE, poll, start } from "./support/debug_call.ts";

const WAITING = `import * as wf from "@temporalio/workflow";
const found = wf.defineSignal("DRIVER_FOUND");
const picked = wf.defineSignal("PICKED_UP");
export async function Order() {
  let status = "NEW";
  wf.setHandler(found, () => {});
  wf.setHandler(picked, () => {
    if (status === "FOUND") status = "PICKED_UP";
  });
  await wf.condition(() => status === "PICKED_UP");
}
`;

test("the command states why an open run waits, with the values that its condition reads", async () => {
  await inFolder(async (cwd) => {
    const history = await withRealm(WAITING, async ({ start: begin }) => {
      const run = begin("Order");
      await run.task();
      run.server.signal("PICKED_UP");
      await run.task();
      assert.equal(run.failure, "");
      return run.server.history();
    });
    writeFileSync(join(cwd, "order.bin"), history);
    writeFileSync(join(cwd, "order.js"), WAITING);
    writeFileSync(join(cwd, "package.json"), '{ "type": "module" }');
    for (const json of [true, false]) {
      const words = ["order.bin", "--workflows", "order.js", ...(json ? ["--json"] : [])];
      const started = start(words, cwd, PAGE);
      try {
        const said = await poll("the reason", () => {
          if (!json) return /Condition.*\n.*\n.*at line 8\.\n/.exec(started.text())?.[0];
          return started.lines().find(({ event }) => event === "waits")?.waits.join("\n");
        });
        assert.match(said, /^ *Condition status === "PICKED_UP" is false: status is "NEW"\.$/m);
        assert.match(
          said,
          /^ *Signal PICKED_UP can change it: its handler writes status at line 8\.$/m,
        );
        assert.doesNotMatch(said, /DRIVER_FOUND/);
      } finally {
        started.stop();
        await started.ended;
      }
    }
  });
});
