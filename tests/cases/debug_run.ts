// A history without code: which events form one item, what is known of the run, its summary. Every
// kind of event has its place.
import { create, toBinary } from "@bufbuild/protobuf";
import { EventType } from "../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import {
  HistoryEventSchema,
  HistorySchema,
} from "../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { formatTimeSpan, openRun, type RunModel } from "../../ts/debug/mod.ts";
import { groupEvents } from "../../ts/debug/run/grouping.ts";
import { deepEqual, equal, ok } from "./assert.ts";
import type { Case } from "./case.ts";

const START = Date.UTC(2026, 0, 1);
const json = (value: unknown) => ({
  payloads: [{ metadata: { encoding: btoa("json/plain") }, data: btoa(JSON.stringify(value)) }],
});

type Loose = { readonly [field: string]: unknown };
/** [seconds after the start, type, attributes] */
type Line = readonly [at: number, type: string, attributes?: Loose];

const attributesField = (type: string) =>
  `${
    type.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  }EventAttributes`;

function buildHistory(...lines: readonly Line[]): Uint8Array {
  const events = lines.map(([at, type, attributes = {}], i) => ({
    eventId: String(i + 1),
    eventTime: new Date(START + at * 1000).toISOString(),
    eventType: `EVENT_TYPE_${type}`,
    [attributesField(type)]: attributes,
  }));
  return new TextEncoder().encode(JSON.stringify({ events }));
}

const STARTED: Line = [0, "WORKFLOW_EXECUTION_STARTED", {
  workflowType: { name: "Trip" },
  workflowId: "trip-1",
  input: json("LIS"),
  taskQueue: { name: "trips" },
}];
const TASK: readonly Line[] = [
  [0, "WORKFLOW_TASK_SCHEDULED", {}],
  [0, "WORKFLOW_TASK_STARTED", { scheduledEventId: "2" }],
  [0, "WORKFLOW_TASK_COMPLETED", {
    scheduledEventId: "2",
    startedEventId: "3",
    identity: "19@booking",
    sdkMetadata: { sdkName: "temporal-go", sdkVersion: "1.28.1" },
  }],
];

const brief = ({ items }: RunModel) =>
  items.map(({ kind, name, status, eventIds }) => [kind, name, status, eventIds.join()]);

/**
 * Core's first form of a patch marker had plain bytes; a server's own workflows have protobuf,
 * which needs a schema.
 */
async function bytesOfOthers(): Promise<void> {
  const payload = (encoding: string, data: string, more: Loose = {}) => ({
    metadata: { encoding: btoa(encoding), ...more },
    data: btoa(data),
  });
  const patch: Line = [1, "MARKER_RECORDED", {
    markerName: "core_patch",
    details: {
      deprecated: { payloads: [payload("binary/plain", "\0")] },
      patch_id: { payloads: [payload("binary/plain", "refunds in one go")] },
    },
  }];
  const signaled: Line = [1, "WORKFLOW_EXECUTION_SIGNALED", {
    signalName: "sync",
    input: {
      payloads: [
        payload("binary/protobuf", "\x0a\x03abc", { messageType: btoa("shop.api.v1.SyncRequest") }),
      ],
    },
  }];
  const run = await openRun(buildHistory(STARTED, ...TASK, patch, signaled));
  const [marker, signal] = run.items.slice(-2) as [
    RunModel["items"][number],
    RunModel["items"][number],
  ];
  deepEqual([marker.name, marker.key], ["patch refunds in one go", "refunds in one go"]);
  ok(
    run.inputOf(marker).some((value) => "value" in value && value.value === "refunds in one go"),
    "the id as a text",
  );
  deepEqual(run.inputOf(signal), [{ unreadable: "protobuf SyncRequest, 5 bytes" }]);
  ok(run.detailOf(signal).includes("protobuf SyncRequest, 5 bytes"), run.detailOf(signal));
}

/** Reducers of the embedded engine have the name of the reducer, and its arguments and result. */
async function reducers(): Promise<void> {
  const marker = (id: number, more: Loose, failure?: Loose): Line => [1, "MARKER_RECORDED", {
    markerName: "Transact",
    details: {
      id: json(id),
      reducer: json("applyDamage"),
      arguments: json(20),
      awaited: json(true),
      ...more,
    },
    ...(failure && { failure }),
  }];
  const run = await openRun(
    buildHistory(
      STARTED,
      ...TASK,
      marker(1, { result: json({ hp: 80 }) }),
      marker(2, {}, { message: "no npc" }),
    ),
  );
  deepEqual(brief(run).slice(2), [
    ["marker", "transact applyDamage", "completed", "5"],
    ["marker", "transact applyDamage", "failed", "6"],
  ]);
  const [hit, missed] = run.items.slice(2);
  deepEqual([run.inputOf(hit!), run.outputOf(hit!)], [[{ value: 20 }], { value: { hp: 80 } }]);
  deepEqual([run.outputOf(missed!), run.failureOf(missed!)?.message], [undefined, "no npc"]);
}

async function activities(): Promise<void> {
  const run = await openRun(buildHistory(
    STARTED,
    ...TASK,
    [1, "ACTIVITY_TASK_SCHEDULED", {
      activityId: "5",
      activityType: { name: "BookFlight" },
      input: json({ to: "LIS" }),
      retryPolicy: { initialInterval: "2s", backoffCoefficient: 2, maximumInterval: "60s" },
    }],
    [1, "TIMER_STARTED", { timerId: "6", startToFireTimeout: "86400s" }],
    [21, "ACTIVITY_TASK_STARTED", {
      scheduledEventId: "5",
      attempt: 3,
      lastFailure: { message: "no seats before" },
    }],
    [22, "ACTIVITY_TASK_FAILED", {
      scheduledEventId: "5",
      startedEventId: "7",
      failure: { message: "no seats", applicationFailureInfo: { type: "NoSeatsError" } },
    }],
    [22, "TIMER_CANCELED", { timerId: "6", startedEventId: "6" }],
    [23, "WORKFLOW_EXECUTION_COMPLETED", { result: json({ booked: false }) }],
  ));
  deepEqual(brief(run), [
    ["run", "Trip", "completed", "1"],
    ["task", "workflow task", "completed", "2,3,4"],
    ["activity", "BookFlight", "failed", "5,7,8"],
    ["timer", "timer 1 d", "canceled", "6,9"],
    ["run", "completes", "completed", "10"],
  ]);
  const flight = run.items[2]!;
  deepEqual(run.inputOf(flight), [{ value: { to: "LIS" } }]);
  equal(run.failureOf(flight)?.type, "NoSeatsError");
  // Two waits of 2 and 4 seconds lie between three tries; what else went by was work.
  deepEqual(
    run.attemptsOf(flight).map(({ number, startMs, backoffMs, about, failure }) => [
      number,
      (startMs! - START) / 1000,
      backoffMs,
      about,
      failure?.message,
    ]),
    [[1, 1, 0, true, undefined], [2, 10, 2000, true, "no seats before"], [
      3,
      21,
      4000,
      false,
      "no seats",
    ]],
  );
  equal(run.itemOf(8), flight);
  deepEqual(run.pendingAt(7).map(({ name }) => name), ["BookFlight", "timer 1 d"]);
  deepEqual(run.pendingAt(10), []);
  equal(run.detailOf(flight), "LIS 3 attempts, no seats");
  equal(run.detailOf(run.items[4]!), '→ {"booked":false}');
  deepEqual([...run.search("no SEATS")], [2]);
  deepEqual([...run.search("lis")], [0, 2]);
  const { facts } = run;
  deepEqual([facts.type, facts.id, facts.status, facts.sdk, facts.taskQueue], [
    "Trip",
    "trip-1",
    "Completed",
    "temporal-go 1.28.1",
    "trips",
  ]);
  deepEqual(run.findings.map(({ text, eventId }) => [text, eventId]), [
    ["**20 s** of 23 s passed in activity **BookFlight**.", 7],
    ["**BookFlight** failed **3 times** in 21 s. Only the last failure is recorded: no seats", 8],
    ["The **1 d** timer never fired: it was canceled.", 6],
  ]);
  deepEqual(run.limits.map(({ name, value }) => [name, value]).slice(0, 1), [["events", 10]]);
}

async function strangeClocks(): Promise<void> {
  const run = await openRun(buildHistory(
    STARTED,
    ...TASK,
    [1, "ACTIVITY_TASK_SCHEDULED", { activityId: "5", activityType: { name: "BookFlight" } }],
    [90_000_000, "ACTIVITY_TASK_STARTED", { scheduledEventId: "5", attempt: 1 }],
    [2, "ACTIVITY_TASK_COMPLETED", { scheduledEventId: "5", startedEventId: "6" }],
    [3, "WORKFLOW_EXECUTION_COMPLETED", {}],
  ));
  // A part is never longer than the whole.
  deepEqual(run.findings.map(({ text, eventId }) => [text, eventId]), [
    ["The times of the events are not in order: **1041 d 15 h** passed before this event.", 6],
  ]);
}

async function openRuns(): Promise<void> {
  const failing = {
    scheduledEventId: "2",
    startedEventId: "3",
    failure: { message: "[TMPRL1100] no command" },
  };
  const waiting = await openRun(buildHistory(
    STARTED,
    TASK[0]!,
    TASK[1]!,
    [1, "WORKFLOW_TASK_FAILED", failing],
    [2, "WORKFLOW_TASK_SCHEDULED", {}],
    [3, "WORKFLOW_TASK_STARTED", { scheduledEventId: "5" }],
    [4, "WORKFLOW_TASK_FAILED", { ...failing, scheduledEventId: "5", startedEventId: "6" }],
    [5, "WORKFLOW_TASK_SCHEDULED", {}],
  ));
  equal(waiting.facts.status, "Running");
  ok(waiting.findings[0]!.text.includes("waits for a **worker**"));
  equal(
    waiting.findings[1]!.text,
    "A workflow task failed **2 times** in a row: [TMPRL1100] no command",
  );
  const parked = await openRun(buildHistory(
    STARTED,
    ...TASK,
    [1, "WORKFLOW_EXECUTION_UPDATE_ACCEPTED", {
      protocolInstanceId: "p",
      acceptedRequest: { meta: { updateId: "u" }, input: { name: "approve", args: json("marta") } },
    }],
    [2, "START_CHILD_WORKFLOW_EXECUTION_INITIATED", {
      workflowId: "kid",
      workflowType: { name: "Notify" },
    }],
  ));
  equal(
    parked.findings[0]!.text,
    "The open run waits for update **approve**, child **Notify**.",
  );
  deepEqual(parked.pendingAt(6).map(({ kind }) => kind), ["update", "child"]);
}

/** An event of every kind that there is, each about what the first five began. */
function everyKind(): void {
  const field = HistoryEventSchema.oneofs.find(({ localName }) => localName === "attributes")!;
  const unplaced: string[] = [];
  for (const { localName, message } of field.fields) {
    const value = create(message!);
    const event = create(HistoryEventSchema, {
      eventId: 7n,
      eventType: EventType.UNSPECIFIED,
      attributes: { case: localName, value } as never,
    });
    if (/^event type/.test(groupEvents([event]).items[0]!.name)) unplaced.push(localName);
  }
  deepEqual(unplaced, []);
  ok(field.fields.length >= 58);
}

async function novel(): Promise<void> {
  const bytes = toBinary(
    HistorySchema,
    create(HistorySchema, {
      events: [
        {
          eventId: 1n,
          eventType: 1,
          attributes: { case: "workflowExecutionStartedEventAttributes", value: {} },
        },
        { eventId: 2n, eventType: 4711 as EventType },
        {
          eventId: 3n,
          eventType: EventType.TIMER_FIRED,
          attributes: { case: "timerFiredEventAttributes", value: { startedEventId: 2n } },
        },
      ],
    }),
  );
  const run = await openRun(bytes);
  deepEqual(brief(run).slice(1), [["unknown", "event type 4711", "completed", "2,3"]]);
}

export const cases: Case[] = [
  {
    name: "a history without code: an activity with its tries, a timer, what the run is",
    run: activities,
  },
  { name: "a history without code: an open run says what it waits for", run: openRuns },
  { name: "a history without code: times that are not in order", run: strangeClocks },
  {
    name: "a history without code: ids of patches in bytes, values in protobuf",
    run: bytesOfOthers,
  },
  { name: "a history without code: a reducer has its name, arguments and result", run: reducers },
  {
    name: "a history without code: each kind of event has its place",
    run: () => Promise.resolve(everyKind()),
  },
  { name: "a history without code: events of newer servers are kept", run: novel },
  {
    name: "spans of time in two units",
    run: () => {
      deepEqual(
        [9, 999, 999.6, 4230, 59_970, 132_000, 3_599_700, 7_020_000, 90_000_000].map(
          formatTimeSpan,
        ),
        [
          "9 ms",
          "999 ms",
          "1 s",
          "4.2 s",
          "1 min",
          "2 min 12 s",
          "1 h",
          "1 h 57 min",
          "1 d 1 h",
        ],
      );
      return Promise.resolve();
    },
  },
];
