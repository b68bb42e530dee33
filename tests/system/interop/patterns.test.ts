// runtime: node (compares servers and programs; other files cover the runtime)
// Every pattern in its Temporal form on a Temporal server, and some in the native form. Outcomes are
// those on the embedded engine (tests/unit/app/patterns.test.ts), as far as they need no virtual time.
// takes: 10 s
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Client } from "../../../ts/client/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import {
  activitiesOfPatterns,
  type FORMS,
  patterns,
  workflowsOfForm,
} from "../../support/patterns/mod.ts";
import { inRealTime } from "../../support/patterns/real_time.ts";
import { DevServer, noServer } from "./support/dev_server.ts";

type Form = typeof FORMS[number];
const all = Object.keys(patterns);
const whole = all.filter((folder) => !(folder in inRealTime));
const FOLDERS: { readonly [form in Form]: readonly string[] } = { native: whole, temporal: all };

/** Runs the patterns at the same time. Rejects with the folder of the first that fails. */
async function runPatterns(server: DevServer, form: Form): Promise<void> {
  const service = new GrpcService({ address: server.address });
  const taskQueue = `patterns-${form}`;
  const { activities, callsOf } = activitiesOfPatterns();
  const client = new Client({ service, taskQueue, logger: silentLogger });
  const check = async (folder: string) => {
    const stage = {
      client,
      calls: callsOf(folder),
      now: () => Date.now(),
      advance: () => assert.fail(`${folder} needs virtual time`),
    };
    try {
      await (inRealTime[folder] ?? patterns[folder]!.check)(stage);
    } catch (cause) {
      throw new Error(`${folder}, ${form} form: ${(cause as Error).message}`, { cause });
    }
  };
  try {
    const worker = await Worker.create({
      service,
      taskQueue,
      workflows: workflowsOfForm(form),
      activities,
      logger: silentLogger,
    });
    await worker.runUntil(() => Promise.all(FOLDERS[form].map(check)));
  } finally {
    service.close();
  }
}

test("patterns have the same outcomes on a Temporal server", { skip: noServer }, async (t) => {
  const server = await DevServer.start();
  try {
    await t.test("temporal form: every pattern", () => runPatterns(server, "temporal"));
    await t.test("native form", () => runPatterns(server, "native"));
  } finally {
    await server.stop();
  }
});

test("scenarios in real time are of patterns that exist", () => {
  assert.deepEqual(Object.keys(inRealTime).filter((folder) => !(folder in patterns)), []);
});
