// Programs written for the official SDK, live on our worker against a real Temporal dev server: the
// activities that they schedule are named after the scopes that they run in, and those are compared
// with what the official worker recorded for the same program.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client } from "../../../ts/client/mod.ts";
import { createWorkerRealm, type WorkerRealm } from "../../../ts/realm/mod.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { fetchPage } from "../../../ts/worker/workflow/realms.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { root } from "./support/official.ts";

const here = join(root, "tests/unit/compat");

// deno-lint-ignore no-explicit-any
const recorded = (program: string): any[] =>
  JSON.parse(readFileSync(join(here, "histories", `${program}.json`), "utf8")).events;
// deno-lint-ignore no-explicit-any
const scheduled = (events: any[]): string[] =>
  events.flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType.name ?? []);

let server: DevServer, service: GrpcService, client: Client;

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
  client = new Client({ service, logger: silentLogger });
});

after(async () => {
  service?.close();
  await server?.stop();
});

const load = (
  program: string,
  scopes: "asyncLocalStorage" | "rewritten",
  folder = join(here, "programs"),
): Promise<WorkerRealm> =>
  createWorkerRealm({
    workflows: join(folder, `${program}.ts`),
    scopes,
    cacheSize: 0,
    runOptions: { namespace: "default", identity: "interop", sdkVersion: "0.1.0" },
    fetchHistory: (workflowId, runId, token) =>
      fetchPage(
        { service, codec: undefined, namespace: "default", logger: silentLogger },
        workflowId,
        runId,
        token,
      ),
  });

// Programs whose activities have the same names in each run, though not always the same order.
for (const program of ["callbacks", "interleaved"]) {
  for (const context of ["asyncLocalStorage", "rewritten"] as const) {
    test(
      `an official program live on a cluster, ${context}: ${program}`,
      { skip: noServer },
      async () => {
        const expected = scheduled(recorded(program));
        const id = `${program}-${context}`;
        const worker = await Worker.create({
          service,
          taskQueue: id,
          realm: await load(program, context),
          activities: Object.fromEntries(expected.map((name) => [name, () => {}])),
          cachedWorkflows: 0,
          logger: silentLogger,
        });
        const history = await worker.runUntil(async () => {
          const handle = await client.start(program, { id, taskQueue: id });
          await handle.result();
          return handle;
        }).then(async (handle) => ({
          bytes: await handle.historyBytes(),
          json: JSON.parse(await handle.historyJson()),
        }));
        assert.deepEqual(scheduled(history.json.events).sort(), expected.sort());
        const completed = history.json.events.find((event: { eventType: string }) =>
          event.eventType === "EVENT_TYPE_WORKFLOW_TASK_COMPLETED"
        );
        assert.deepEqual(completed.workflowTaskCompletedEventAttributes.sdkMetadata.langUsedFlags, [
          1,
          2,
        ]);
        // The other context must replay it too.
        const realm = await load(
          program,
          context === "rewritten" ? "asyncLocalStorage" : "rewritten",
        );
        const { verdict, error } = await realm.replay(id, history.bytes);
        await realm.dispose();
        assert.equal(verdict, "ok", error?.message);
      },
    );
  }
}

test(
  "stack trace and metadata queries show where an official program waits and which messages it accepts",
  { skip: noServer },
  async () => {
    const worker = await Worker.create({
      service,
      taskQueue: "official-waiting",
      realm: await load("official_waiting", "rewritten", join(root, "tests/system/interop/flows")),
      // No worker takes the activity: it stays open.
      logger: silentLogger,
    });
    await worker.runUntil(async () => {
      const handle = await client.start("officialWaiting", {
        id: "official-waiting",
        taskQueue: "official-waiting",
      });
      await handle.startUpdate("work", { args: [], waitFor: "accepted" });
      for (const state of ["open", "closed"]) {
        const stack = String(await handle.query("__stack_trace"));
        assert.match(
          stack,
          /workflow "officialWaiting": sleep\n {4}at deeper \(.*official_waiting\.ts:\d+:\d+\)\n/,
          state,
        );
        assert.match(stack, /workflow "officialWaiting": condition\n {4}at officialWaiting \(/);
        assert.match(
          stack,
          /handler of update "work": activity "work"\n {4}at .*official_waiting\.ts:/,
        );
        assert.match(
          stack,
          /workflow "officialWaiting": child workflow "absent"\n {4}at officialWaiting \(/,
        );
        assert.equal(stack.split("\n\n").length, 4, stack);
        assert.doesNotMatch(stack, /ts\/compat|executor/);
        const { sdk, stacks } = await handle.query("__enhanced_stack_trace") as {
          sdk: { name: string };
          stacks: unknown[];
        };
        assert.deepEqual([sdk.name, stacks.length], ["temporalex-ts-compat", 4]);
        const metadata = await handle.query("__temporal_workflow_metadata") as {
          definition: { signalDefinitions: unknown; updateDefinitions: unknown };
          currentDetails: string;
        };
        assert.deepEqual(metadata.definition.signalDefinitions, [{
          name: "done",
          description: "Ends it",
        }]);
        assert.deepEqual(metadata.definition.updateDefinitions, [{ name: "work" }]);
        assert.equal(metadata.currentDetails, "three at once");
        if (state === "open") await handle.terminate("seen");
      }
    });
  },
);
