// A process is killed while a batch operation is half done: the next one continues it, and each
// workflow is changed once.
// promise: P1, P2
// takes: 5 s
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { EmbeddedEngine } from "../../../../ts/engine/mod.ts";
import { BatchOperationState } from "../../../../ts/messages/generated/temporal/api/enums/v1/batch_operation_pb.ts";
import { kill, nextLine, startModule } from "../support/child.ts";
import { inFolder } from "../support/stores.ts";
import { WORKFLOWS } from "./signaling.ts";
import { BatchEngine } from "./support.ts";

const CHILD = new URL("./signaling_child.js", import.meta.url);
const SOURCE = new URL("./signaling_child.ts", import.meta.url);

test("a killed process loses no batch operation, and no workflow is signaled twice", () =>
  inFolder(async (folder) => {
    const path = join(folder, "store.db");
    let interrupted = 0;
    // The kill follows the start of an operation, or the commit of its first workflows.
    for (const wanted of ["started 0", "visited 1", "visited 2"]) {
      const module = import.meta.url.endsWith(".ts") ? SOURCE : CHILD;
      const child = startModule(module, [path]);
      const acknowledged = new Set<string>();
      for (let line = ""; line !== wanted;) {
        line = await nextLine(child);
        acknowledged.add(`job${line.split(" ")[1]}`);
      }
      await kill(child);
      const engine = await EmbeddedEngine.open({ path });
      try {
        const opened = new BatchEngine(engine);
        const { operationInfo } = await opened.listBatches();
        interrupted += operationInfo.filter(({ state }) =>
          state === BatchOperationState.RUNNING
        ).length;
        const jobs = operationInfo.map(({ jobId }) => jobId);
        for (const job of acknowledged) assert.ok(jobs.includes(job), `${job} was acknowledged`);
        for (const job of jobs) {
          assert.deepEqual(await opened.ended(job), [WORKFLOWS, WORKFLOWS, 0], job);
        }
        for (let n = 0; n < WORKFLOWS; n++) {
          assert.equal(await opened.signals(`w${n}`), jobs.length, `signals of w${n}`);
        }
      } finally {
        await engine.close();
      }
    }
    assert.ok(interrupted > 0, "no operation was interrupted");
  }));
