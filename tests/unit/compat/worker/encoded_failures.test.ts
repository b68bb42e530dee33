// runtime: node
// Failures whose text a failure converter puts into a payload (encodeCommonAttributes), with a
// codec: the text is in no history.
// process: own (it installs the Runtime of the worker package)
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { Client } from "../../../../ts/compat/client/mod.ts";
import { ApplicationFailure } from "../../../../ts/compat/common/mod.ts";
import { invertingCodec } from "../../../support/codecs.ts";
import { project, setting } from "./support.ts";

const { client, connection, worker, close } = await setting();
after(close);

test("failures with encoded text keep it encoded with a codec when they are passed on", async (t) => {
  const folder = project(t, {
    "failures.js": `import { DefaultFailureConverter } from "@temporalio/common";
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
`,
    "workflows.js": `import * as w from "@temporalio/workflow";
const options = { startToCloseTimeout: "10s", retry: { maximumAttempts: 1 } };
const acts = w.proxyActivities(options), locals = w.proxyLocalActivities(options);
const inner = () => w.ApplicationFailure.create({ message: "SECRET outer", nonRetryable: true, cause: new Error("SECRET inner") });
export const own = () => { throw inner(); };
export const fromActivity = () => acts.bad();
export const fromLocal = () => locals.bad();
export const fromChild = () => w.executeChild("own");
export async function fromUpdate() {
  let asked = false;
  w.setHandler(w.defineUpdate("bad"), () => { asked = true; return acts.bad(); });
  w.setHandler(w.defineQuery("worse"), () => { throw inner(); });
  await w.condition(() => asked && w.allHandlersFinished());
}
`,
  });
  const failing = () =>
    ApplicationFailure.create({
      message: "SECRET activity",
      nonRetryable: true,
      cause: new Error("SECRET cause"),
    });
  const dataConverter = {
    failureConverterPath: join(folder, "failures.js"),
    payloadCodecs: [invertingCodec()],
  };
  const program = new Client({ connection, dataConverter });
  const taskQueue = `encoded`;
  const made = await worker(taskQueue, {
    workflowsPath: join(folder, "workflows.js"),
    dataConverter,
    activities: { bad: () => Promise.reject(failing()) },
  });
  await made.runUntil(async () => {
    for (const type of ["own", "fromActivity", "fromLocal", "fromChild", "fromUpdate"]) {
      const workflowId = `${taskQueue}-${type}`;
      const handle = await program.workflow.start(type, { workflowId, taskQueue });
      if (type === "fromUpdate") {
        await assert.rejects(handle.query("worse"), /Encoded failure/);
        const refused = await handle.executeUpdate("bad").catch((error: Error) => error) as Error;
        assert.match(String((refused.cause as Error).cause), /SECRET activity/);
        await handle.result();
      } else {
        const error = await handle.result().catch((error: Error) => error) as Error;
        const causes: string[] = [];
        for (
          let at = error.cause as Error | undefined;
          at !== undefined;
          at = at.cause as Error | undefined
        ) {
          causes.push(at.message);
        }
        const expected = type === "own" || type === "fromChild"
          ? ["SECRET outer", "SECRET inner"]
          : ["SECRET activity", "SECRET cause"];
        assert.deepEqual(causes.slice(-2), expected, type);
      }
      const history = await client.getHandle(type, workflowId).historyJson();
      assert.match(history, /Encoded failure/, type);
      assert.doesNotMatch(history, /SECRET/, type);
      // "SECRET" in base64, in its three phases.
      assert.doesNotMatch(history, /U0VDUkVU|TRUNSRV|NFQ1JF/, type);
    }
  });
});
