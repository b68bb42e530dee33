// The four timeouts of activities on a real server and on `temporalex dev`, against one record
// (core-rs/tests/engine/activity_timeouts.txt, which the engine's own tests hold whole): a sample
// of its combinations and lives, live. TIMEOUTS_RECORD=FILE records all of them again.
// takes: 60 s
// runtime: node (compares servers and programs; other files cover the runtime)
import assert from "node:assert/strict";
import { appendFileSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import {
  nameOf,
  type TimeoutCase,
  timeoutCases,
  TimeoutLab,
  type TimeoutSpans,
} from "./support/activity_timeouts.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { OurServer } from "./support/our_server.ts";

const RECORD = "core-rs/tests/engine/activity_timeouts.txt";
const recordTo = process.env["TIMEOUTS_RECORD"];
/** Each case has a separate queue; partitions would only make the server slow. */
const ONE_PARTITION = [
  "matching.numTaskqueueReadPartitions=1",
  "matching.numTaskqueueWritePartitions=1",
];
/** A busy machine makes a server late: what differs is tried again with more time. */
const SPANS: readonly TimeoutSpans[] = [{ shortMs: 2_000, longMs: 7_000 }, {
  shortMs: 4_000,
  longMs: 14_000,
}];
const EVERY = 13;

const recorded = new Map(
  readFileSync(RECORD, "utf8").trim().split("\n").map((line) =>
    line.split(" | ") as [string, string]
  ),
);

async function agrees(address: string): Promise<void> {
  const service = new GrpcService({ address });
  try {
    let left: TimeoutCase[] = timeoutCases().filter((_, i) => i % EVERY === 0);
    assert.ok(left.length > 40);
    let differences: string[] = [];
    for (const [round, spans] of SPANS.entries()) {
      const verdicts = await new TimeoutLab(service, `timeouts-${round}`, spans)
        .run(left);
      const wrong = left.map((one, i) => [one, verdicts[i]!] as const).filter((
        [one, got],
      ) => recorded.get(nameOf(one)) !== got);
      differences = wrong.map(([one, got]) =>
        `${nameOf(one)}: ${got}; recorded: ${recorded.get(nameOf(one))}`
      );
      left = wrong.map(([one]) => one);
      if (left.length === 0) return;
    }
    assert.deepEqual(differences, []);
  } finally {
    service.close();
  }
}

test("the record has every combination", () => {
  assert.deepEqual([...recorded.keys()], timeoutCases().map(nameOf));
});

test(
  "activities time out on a real server as recorded",
  { skip: noServer },
  async () => {
    const server = await DevServer.start(ONE_PARTITION);
    try {
      if (recordTo === undefined) return await agrees(server.address);
      const service = new GrpcService({ address: server.address });
      const all = timeoutCases();
      for (let i = 0; i < all.length; i += 54) {
        const part = all.slice(i, i + 54);
        const verdicts = await new TimeoutLab(service, `record-${i}`, SPANS[1]!)
          .run(part);
        appendFileSync(
          recordTo,
          part.map((one, j) => `${nameOf(one)} | ${verdicts[j]}\n`).join(""),
        );
      }
      service.close();
    } finally {
      await server.stop();
    }
  },
);

test("activities time out on temporalex dev as recorded", async () => {
  const server = await OurServer.start();
  try {
    await agrees(server.address);
  } finally {
    await server.stop();
  }
});
