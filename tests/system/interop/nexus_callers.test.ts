// Nexus operations called from workflow code, on a real Temporal server with the official worker as
// their handler: the same program on our worker and on the official one comes to the same, and each
// replays the other's histories, edited ones with the same verdict.
// takes: 90 s
// runtime: node
import assert from "node:assert/strict";
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { create, toBinary } from "@bufbuild/protobuf";
import { EventType } from "../../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import {
  type HistoryEvent,
  HistoryEventSchema,
  HistorySchema,
} from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Client, type WorkflowHandle } from "../../../ts/client/mod.ts";
import { enumName } from "../../../ts/converter/enums.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { createWorkerRealm, type WorkerRealm } from "../../../ts/realm/mod.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer, temporalCli } from "./support/dev_server.ts";
import { noOfficial, officialProgram } from "./support/official.ts";

const skip = noServer || noOfficial;
const OFFICIAL = "nexus-desk";
const OURS = "nexus-callers";
const workflows = officialProgram("nexus_callers.mjs");

let server: DevServer;
let service: GrpcService;
let client: Client;
let folder: string;
let desk: ChildProcess;
let names: readonly string[];

before(async () => {
  if (skip !== false) return;
  folder = mkdtempSync(join(tmpdir(), "temporalex-nexus-"));
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
  client = new Client({ service, logger: silentLogger });
  const endpoint = [
    "--name",
    "desk",
    "--target-namespace",
    "default",
    "--target-task-queue",
    OFFICIAL,
  ];
  execFileSync(temporalCli()!, [
    "operator",
    "nexus",
    "endpoint",
    "create",
    "--address",
    server.address,
    ...endpoint,
  ]);
  names = cases(await loaded());
  desk = spawn(
    process.execPath,
    [officialProgram("nexus.mjs"), "serve", server.address, OFFICIAL],
    {
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  let said = "";
  desk.stdout!.setEncoding("utf8").on("data", (text) => (said += text));
  await until(
    "the official worker is ready",
    () => said.includes("ready") || desk.exitCode !== null,
  );
  assert.equal(desk.exitCode, null);
});

after(async () => {
  if (skip !== false) return;
  const ended = new Promise((resolve) => desk.once("exit", resolve));
  desk.stdin!.end();
  await (await programRealm)?.dispose();
  await ended;
  service.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const loaded = async () => await import(workflows) as { readonly names: readonly string[] };
const cases = ({ names }: { readonly names: readonly string[] }) => names;

const start = (what: string, taskQueue: string) =>
  client.start("caller", {
    id: `${what}-${taskQueue}`,
    taskQueue,
    args: [what],
    taskTimeout: "60s",
  });

/** All cases on one queue, and what came of them. */
async function all(
  taskQueue: string,
): Promise<{ handles: WorkflowHandle[]; results: Record<string, unknown> }> {
  const handles = await Promise.all(names.map((what) => start(what, taskQueue)));
  const results = await Promise.all(handles.map((handle) => handle.result()));
  return { handles, results: Object.fromEntries(names.map((what, i) => [what, results[i]])) };
}

const ourWorker = () =>
  Worker.create({ service, taskQueue: OURS, workflows, logger: silentLogger });

/** What the official replayer says of histories, by name. */
async function officialVerdicts(
  histories: ReadonlyMap<string, Uint8Array>,
): Promise<{ [name: string]: string }> {
  const at = mkdtempSync(join(folder, "histories-"));
  for (const [name, bytes] of histories) writeFileSync(join(at, name), bytes);
  const { stdout } = await promisify(execFile)(process.execPath, [
    officialProgram("nexus.mjs"),
    "replay",
    at,
  ], {
    maxBuffer: 64 * 1024 * 1024,
    timeout: 120_000,
  });
  // Its core writes other lines first.
  return JSON.parse(stdout.slice(stdout.lastIndexOf("\n", stdout.length - 2) + 1));
}

const replayer = (modules: URL | string = workflows): Promise<WorkerRealm> =>
  createWorkerRealm({
    workflows: modules,
    cacheSize: 0,
    runOptions: { namespace: "default", identity: "interop", sdkVersion: "0.1.0" },
  });

/** One realm for all histories of the program. */
let programRealm: Promise<WorkerRealm> | undefined;

async function ourVerdicts(
  histories: ReadonlyMap<string, Uint8Array>,
  modules?: URL,
): Promise<{ [name: string]: string }> {
  const realm = await (modules === undefined ? programRealm ??= replayer() : replayer(modules));
  const found: { [name: string]: string } = {};
  for (const [name, bytes] of histories) {
    const { verdict, error } = await realm.replay(name, bytes);
    found[name] = verdict === "ok" ? "ok" : `${verdict}: ${error?.message}`;
  }
  if (modules !== undefined) await realm.dispose();
  return found;
}

async function fetchHistories(
  handles: readonly WorkflowHandle[],
): Promise<Map<string, Uint8Array>> {
  const histories = new Map<string, Uint8Array>();
  for (const handle of handles) histories.set(handle.workflowId, await handle.historyBytes());
  return histories;
}

const allOk = (histories: ReadonlyMap<string, Uint8Array>) =>
  Object.fromEntries([...histories.keys()].map((id) => [id, "ok"]));

/** Types of events, without those that depend on who was quicker. */
async function eventsOf(handle: WorkflowHandle): Promise<string[]> {
  const { events } = await handle.fetchHistory();
  return events.map(({ eventType }) => enumName(EventType, eventType) ?? "").filter((name) =>
    name.startsWith("NEXUS_OPERATION")
  );
}

/** Cases in which the server records the results of several operations in no fixed order. */
const UNORDERED = new Set(["several", "cancelUnsent", "cancelAtItsStart"]);

test(
  "callers get the same results as on the official worker, and each worker replays the other's histories",
  { skip },
  async () => {
    const worker = await ourWorker();
    const [official, own] = await Promise.all([all(OFFICIAL), worker.runUntil(() => all(OURS))]);
    assert.deepEqual(own.results, official.results);
    assert.ok(names.length >= 20);
    for (const [i, what] of names.entries()) {
      if (UNORDERED.has(what)) continue;
      // What comes of an operation may come after the end of its caller.
      const [mine, theirs] = [
        await eventsOf(own.handles[i]!),
        await eventsOf(official.handles[i]!),
      ];
      const common = Math.min(mine.length, theirs.length);
      assert.ok(common > 0, what);
      assert.deepEqual(mine.slice(0, common), theirs.slice(0, common), what);
    }
    const [theirs, ours] = [
      await fetchHistories(official.handles),
      await fetchHistories(own.handles),
    ];
    assert.deepEqual(await officialVerdicts(ours), allOk(ours));
    assert.deepEqual(await ourVerdicts(theirs), allOk(theirs));
    assert.deepEqual(await ourVerdicts(ours), allOk(ours));
  },
);

test(
  "native workflows call operations with every outcome, cancel them, and replay",
  { skip },
  async () => {
    const flows = new URL("./flows/nexus.ts", import.meta.url);
    const worker = await Worker.create({
      service,
      taskQueue: "native",
      workflows: flows,
      logger: silentLogger,
    });
    const run = (type: string, id: string, ...args: unknown[]) =>
      client.start(type, { id, taskQueue: "native", args });
    const failed = (operation: string) =>
      `NexusOperationFailure desk.${operation}: nexus operation completed unsuccessfully`;
    const handles = await worker.runUntil(async () => {
      const caller = await run("nativeCaller", "native-caller");
      const asks = await run("nativeCancels", "native-try", "tryCancel");
      const delivers = await run("nativeCancels", "native-requested", "waitCancellationRequested");
      const waits = await run("nativeWaits", "native-waits");
      assert.deepEqual(await caller.result(), [
        ...["a again", "b again", "nothing"],
        [
          failed("refuses"),
          "ApplicationFailure OperationError: refused: so",
          "ApplicationFailure Deep: deep",
        ],
        [true, failed("gives"), "CancelledFailure: canceled by the handler"],
        [
          ...[
            failed("badRequest"),
            "NexusHandlerFailure BAD_REQUEST: handler error (BAD_REQUEST): not so",
          ],
          "NexusHandlerFailure BAD_REQUEST: not so",
        ],
        ["desk", "runs", true, "completes at last"],
      ]);
      assert.deepEqual(await asks.result(), [
        ...[true, "NexusOperationFailure desk.runs: Nexus operation cancelled"],
        'CancelledFailure: Nexus operation "runs" of service "desk" was cancelled',
      ]);
      assert.deepEqual(await delivers.result(), [
        ...[
          true,
          "NexusOperationFailure desk.runs: Nexus operation cancellation request completed",
          "CancelledFailure: ",
        ],
      ]);
      await until(
        "its operation",
        async () => (await eventsOf(waits)).includes("NEXUS_OPERATION_STARTED"),
      );
      await waits.cancel();
      await assert.rejects(waits.result(), /cancel/i);
      assert.ok((await eventsOf(waits)).includes("NEXUS_OPERATION_CANCEL_REQUESTED"));
      return [caller, asks, delivers, waits];
    });
    const histories = await fetchHistories(handles);
    assert.deepEqual(await ourVerdicts(histories, flows), allOk(histories));
  },
);

test("a cancelled workflow cancels its operation, and the failure of one can be the workflow's", {
  skip,
}, async () => {
  const worker = await ourWorker();
  const handles = await worker.runUntil(async () => {
    const cancelled = await client.start("cancelledCaller", { id: "cancelled", taskQueue: OURS });
    await until(
      "its operation",
      async () => (await eventsOf(cancelled)).includes("NEXUS_OPERATION_STARTED"),
    );
    await cancelled.cancel();
    await assert.rejects(cancelled.result(), /cancel/i);
    assert.deepEqual((await eventsOf(cancelled)).slice(0, 3), [
      ...[
        "NEXUS_OPERATION_SCHEDULED",
        "NEXUS_OPERATION_STARTED",
        "NEXUS_OPERATION_CANCEL_REQUESTED",
      ],
    ]);
    const failed = [];
    for (const operation of ["badRequest", "refuses"]) {
      const handle = await client.start("failedCaller", {
        id: `failed-${operation}`,
        taskQueue: OURS,
        args: [operation],
      });
      await assert.rejects(handle.result());
      const { events } = await handle.fetchHistory();
      const end = events.at(-1)!.attributes;
      assert.equal(end.case, "workflowExecutionFailedEventAttributes");
      const { failure } = end.value as {
        failure?: { failureInfo: { case?: string }; cause?: { failureInfo: { case?: string } } };
      };
      assert.equal(failure?.failureInfo.case, "nexusOperationExecutionFailureInfo");
      const cause = operation === "badRequest"
        ? "nexusHandlerFailureInfo"
        : "applicationFailureInfo";
      assert.equal(failure?.cause?.failureInfo.case, cause, "written as it came");
      failed.push(handle);
    }
    return [cancelled, ...failed];
  });
  const histories = await fetchHistories(handles);
  assert.deepEqual(await officialVerdicts(histories), allOk(histories));
});

test(
  "a report of an operation after its cancellation is ignored, also where the official worker fails its task",
  { skip },
  async () => {
    const worker = await ourWorker();
    const histories = await worker.runUntil(async () => {
      const handles = await Promise.all(
        ["abandonAndStay", "unstartedAndStay"].map((what) => start(what, OURS)),
      );
      for (const handle of handles) {
        assert.match(JSON.stringify(await handle.result()), /cancelled after starting/);
      }
      return await fetchHistories(handles);
    });
    assert.deepEqual(await ourVerdicts(histories), allOk(histories));
    const refused = await officialVerdicts(histories);
    assert.match(refused[`abandonAndStay-${OURS}`]!, /cannot complete after being cancelled/);
    assert.match(refused[`unstartedAndStay-${OURS}`]!, /No completion for taskSeq 1/);
  },
);

// -------------------------------------------------------------------------------- edited histories

type Attributes = HistoryEvent["attributes"];
const of = (name: string, value: object): Attributes =>
  ({ case: name, value }) as unknown as Attributes;

/** Changes one event of a kind. */
interface Edit {
  readonly of: string;
  readonly event: EventType;
  readonly as?: EventType;
  readonly attributes?: (before: Record<string, unknown>) => Attributes;
  /**
   * "here": the official worker has a fault there
   * (docs/dev/semantics/commands.md#nexus-operations).
   */
  readonly holds: boolean | "here";
}

const {
  NEXUS_OPERATION_SCHEDULED,
  NEXUS_OPERATION_STARTED,
  NEXUS_OPERATION_COMPLETED,
  NEXUS_OPERATION_CANCEL_REQUESTED,
} = EventType;
const scheduled = (change: object) => (before: Record<string, unknown>) =>
  of("nexusOperationScheduledEventAttributes", { ...before, ...change });
const asTimer = () =>
  of("timerStartedEventAttributes", {
    timerId: "9",
    startToFireTimeout: { seconds: 1n, nanos: 0 },
  });
const operationEvent =
  (name: string, change: object = {}) => ({ scheduledEventId }: Record<string, unknown>) =>
    of(name, { scheduledEventId, ...change });

const EDITS: { readonly [name: string]: Edit } = {
  "another operation": {
    ...{
      of: "result",
      event: NEXUS_OPERATION_SCHEDULED,
      attributes: scheduled({ operation: "other" }),
      holds: true,
    },
  },
  "another endpoint and service": {
    ...{
      of: "handle",
      event: NEXUS_OPERATION_SCHEDULED,
      attributes: scheduled({ endpoint: "x", service: "y" }),
      holds: true,
    },
  },
  "a timer in its place": {
    ...{
      of: "result",
      event: NEXUS_OPERATION_SCHEDULED,
      as: EventType.TIMER_STARTED,
      attributes: asTimer,
      holds: false,
    },
  },
  "a request to cancel in its place": {
    ...{
      of: "result",
      event: NEXUS_OPERATION_SCHEDULED,
      as: NEXUS_OPERATION_CANCEL_REQUESTED,
      holds: false,
    },
    attributes: () => of("nexusOperationCancelRequestedEventAttributes", { scheduledEventId: 5n }),
  },
  "a timer in place of the request to cancel": {
    ...{
      of: "waitCompleted",
      event: NEXUS_OPERATION_CANCEL_REQUESTED,
      as: EventType.TIMER_STARTED,
      attributes: asTimer,
    },
    holds: false,
  },
  "an operation in place of the request to cancel": {
    ...{
      of: "waitCompleted",
      event: NEXUS_OPERATION_CANCEL_REQUESTED,
      as: NEXUS_OPERATION_SCHEDULED,
      holds: false,
    },
    attributes: () =>
      of("nexusOperationScheduledEventAttributes", {
        endpoint: "desk",
        service: "desk",
        operation: "runs",
      }),
  },
  "a response without a request": {
    ...{ of: "result", event: NEXUS_OPERATION_COMPLETED, holds: false },
    attributes: () => of("nexusOperationCompletedEventAttributes", { scheduledEventId: 3n }),
  },
  "a timeout in place of the result": {
    ...{
      of: "handle",
      event: NEXUS_OPERATION_COMPLETED,
      as: EventType.NEXUS_OPERATION_TIMED_OUT,
      holds: false,
    },
    attributes: operationEvent("nexusOperationTimedOutEventAttributes", {
      failure: { message: "late" },
    }),
  },
  "a start in place of the result": {
    ...{
      of: "result",
      event: NEXUS_OPERATION_COMPLETED,
      as: NEXUS_OPERATION_STARTED,
      holds: false,
    },
    attributes: operationEvent("nexusOperationStartedEventAttributes", { operationToken: "t" }),
  },
  "started twice": {
    ...{
      of: "handle",
      event: EventType.NEXUS_OPERATION_COMPLETED,
      as: NEXUS_OPERATION_STARTED,
      holds: false,
    },
    attributes: operationEvent("nexusOperationStartedEventAttributes", { operationToken: "t" }),
  },
  "the request to cancel could not be delivered": {
    ...{
      of: "waitRequested",
      event: EventType.NEXUS_OPERATION_CANCEL_REQUEST_COMPLETED,
      holds: "here",
    },
    as: EventType.NEXUS_OPERATION_CANCEL_REQUEST_FAILED,
    attributes: operationEvent("nexusOperationCancelRequestFailedEventAttributes", {
      failure: { message: "no" },
    }),
  },
};

test("edited histories get the same verdicts as from the official replayer", { skip }, async () => {
  const histories = new Map<string, Uint8Array>();
  for (const [name, edit] of Object.entries(EDITS)) {
    const { events } = await client.getHandle(undefined, `${edit.of}-${OFFICIAL}`).fetchHistory();
    // Of several the last one: the run has passed the earlier ones.
    const at = edit.of === "handle"
      ? events.findLastIndex(isOf(edit))
      : events.findIndex(isOf(edit));
    assert.ok(at >= 0, name);
    const event = events[at]!;
    const attributes =
      edit.attributes?.(event.attributes.value as unknown as Record<string, unknown>) ??
        event.attributes;
    const { eventId, eventTime } = event;
    const eventType = edit.as ?? event.eventType;
    const edited = create(
      HistoryEventSchema,
      { eventId, eventTime, eventType, attributes } as never,
    );
    histories.set(
      name,
      toBinary(HistorySchema, create(HistorySchema, { events: events.with(at, edited) })),
    );
  }
  const [official, own] = [await officialVerdicts(histories), await ourVerdicts(histories)];
  for (const [name, { holds }] of Object.entries(EDITS)) {
    const both = `${name}: ${official[name]} | ${own[name]}`;
    assert.equal(own[name] === "ok", holds !== false, both);
    // Its fault needs the end of the operation in a later task than the response, which the server
    // decides.
    if (holds === "here") assert.match(official[name]!, /^ok$|No completion for taskSeq 1/, both);
    else assert.equal(official[name] === "ok", holds, both);
  }
});

const isOf = (edit: Edit) => ({ eventType }: HistoryEvent) => eventType === edit.event;
