// No plaintext leaves the process when a payload codec is set. Every value, message and stack of a
// program holds a marker word, and everything that leaves the process is searched for it. Every
// public method of clients and every request that can have payloads needs a case here, or a reason.
//
// Temporal itself has these in plain, so they hold no marker: search attributes (and the filters of
// subscriptions, which are such), ids, names of types, queues and messages, types of failures,
// reasons of cancellations, terminations and resets, notes of schedules.
// runtime: node
// takes: 5 s
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setUpTelemetry } from "../../support/otel.ts";
import { dataConverterIn, driveCompat } from "./plaintext/compat.ts";
import { driveNative } from "./plaintext/native.ts";
import { asText, PAYLOAD_METHODS, Scan } from "./plaintext/scan.ts";
import { driveScripted } from "./plaintext/scripted.ts";

const telemetry = setUpTelemetry();
const scan = new Scan();
const folder = mkdtempSync(join(tmpdir(), "temporalex-plaintext-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Public members without a case, with the reason. */
const NOT_DRIVEN: ReadonlyMap<string, string> = new Map(
  ["WorkflowClient", "AsyncCompletionClient", "ScheduleClient"].flatMap((name) => [
    [
      `compat ${name}.workflowService`,
      "the caller makes the messages, and encodes what it puts into them",
    ],
    [`compat ${name}.withDeadline`, "changes no message"],
    [`compat ${name}.withAbortSignal`, "changes no message"],
    [`compat ${name}.withMetadata`, "headers of HTTP are the caller's, as in Temporal's SDK"],
  ]),
);

/** Requests that never hold a payload here, with the reason. */
const NEVER_MARKED: ReadonlyMap<string, string> = new Map([
  ["resetWorkflowExecution", "no client sends operations for after the reset"],
  ["startBatchOperation", "clients apply a batch run by run; only raw calls send this request"],
  ["updateWorkerDeploymentVersionMetadata", "only raw calls send this request"],
]);

async function clean(): Promise<void> {
  await scan.settled();
  for (const { name, attributes, status, events } of telemetry.spans()) {
    scan.look(`span ${name}`, JSON.stringify({ name, attributes, status, events }, asText));
  }
  assert.deepEqual(scan.leaks.splice(0), []);
}

/** The stores, their logs and everything else in the folder. */
function lookAtFiles(): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isFile()) scan.look(`file ${name}`, readFileSync(path));
  }
}

test("the native client and worker send no plain text", async () => {
  await driveNative(scan, telemetry, folder, lookAtFiles);
  lookAtFiles();
  await clean();
});

test("clients and workers of Temporal's packages send no plain text", async (t) => {
  const { folder: program, dataConverter } = dataConverterIn(t);
  await driveCompat(scan, folder, program, dataConverter, lookAtFiles);
  lookAtFiles();
  await clean();
});

test("schedules, update-with-start and Nexus send no plain text", async (t) => {
  await driveScripted(scan, dataConverterIn(t).dataConverter);
  await clean();
});

test("every public method and every request with payloads has a case", () => {
  assert.deepEqual(scan.unused.filter((path) => !NOT_DRIVEN.has(path)), []);
  assert.deepEqual(
    [...NOT_DRIVEN.keys()].filter((path) => !scan.unused.includes(path)),
    [],
    "these have a case",
  );
  const unmarked = PAYLOAD_METHODS.filter((method) => !scan.marked.has(method));
  assert.deepEqual(unmarked.filter((method) => !NEVER_MARKED.has(method)), []);
  assert.deepEqual(
    [...NEVER_MARKED.keys()].filter((method) => !unmarked.includes(method as never)),
    [],
    "these have a case",
  );
});
