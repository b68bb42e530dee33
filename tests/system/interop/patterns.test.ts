// Patterns whose scenarios need no virtual time, in both forms on a Temporal server: the same
// outcomes as on the embedded engine (tests/unit/app/patterns.test.ts).
// takes: 10 s
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Client } from "../../../ts/client/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import {
  activitiesOfPatterns,
  FORMS,
  patterns,
  workflowsOfForm,
} from "../../support/patterns/mod.ts";
import { DevServer, noServer } from "./support/dev_server.ts";

const IN_REAL_TIME = [
  ...["saga", "batch_iterator", "state_machine"],
  ...["fan_out", "child_per_item", "entity"],
];

test(
  "patterns have the same outcomes on a Temporal server",
  { skip: noServer },
  async (t) => {
    const server = await DevServer.start();
    try {
      for (const form of FORMS) {
        const service = new GrpcService({ address: server.address });
        const taskQueue = `patterns-${form}`;
        const calls: string[] = [];
        try {
          const worker = await Worker.create({
            service,
            taskQueue,
            workflows: workflowsOfForm(form),
            activities: activitiesOfPatterns(calls),
            logger: silentLogger,
          });
          await worker.runUntil(async () => {
            for (const folder of IN_REAL_TIME) {
              await t.test(`${folder}, ${form} form`, async () => {
                calls.length = 0;
                await patterns[folder]!.check({
                  client: new Client({
                    service,
                    taskQueue,
                    logger: silentLogger,
                  }),
                  calls,
                  now: () => Date.now(),
                  advance: () => assert.fail(`${folder} needs virtual time`),
                });
              });
            }
          });
        } finally {
          service.close();
        }
      }
    } finally {
      await server.stop();
    }
  },
);
