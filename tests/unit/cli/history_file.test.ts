// Histories in every exported format. One run, written in each dialect, must read back as the same
// bytes. The histories that Temporal's own projects have published are read in full if they are
// next to the checkout.
import test from "node:test";
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { create, fromBinary, type MessageInitShape, toBinary, toJson } from "@bufbuild/protobuf";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import {
  GetWorkflowExecutionHistoryResponseSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import {
  type HistoryFile,
  HistoryFileError,
  readHistoryFile,
} from "../../../ts/history_files/history_file.ts";
import { openRun } from "../../../ts/debug/run/model.ts";
import { MiniServer, payloads } from "../../cases/mini_server.ts";
import { EventType } from "../../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";

// deno-lint-ignore no-explicit-any
type Loose = any;
const utf8 = new TextEncoder();
const json = (value: unknown): Uint8Array => utf8.encode(JSON.stringify(value));

/** A history with payloads, 64-bit numbers, times, durations, enums, a failure and a memo. */
function sample(): Uint8Array {
  const server = new MiniServer("Sample", {
    args: [{ a: [1, null, "é"] }, null, "text"],
    memo: { note: "x", none: null },
    runId: "run-1",
  });
  server.append(EventType.WORKFLOW_TASK_SCHEDULED, {
    case: "workflowTaskScheduledEventAttributes",
    value: {
      attempt: 3,
      startToCloseTimeout: { seconds: 10n, nanos: 500_000_000 },
      taskQueue: { name: "q", kind: 1 },
    },
  });
  server.append(EventType.WORKFLOW_EXECUTION_SIGNALED, {
    case: "workflowExecutionSignaledEventAttributes",
    value: { signalName: "s", input: payloads([[1, 2], { data: 1 }]), identity: "me" },
  });
  server.append(EventType.MARKER_RECORDED, {
    case: "markerRecordedEventAttributes",
    value: { markerName: "m", details: { d: payloads([true]) } },
  });
  server.append(EventType.WORKFLOW_TASK_STARTED, {
    case: "workflowTaskStartedEventAttributes",
    value: { scheduledEventId: 2n, historySizeBytes: 9_007_199_254_740_993n },
  });
  server.append(EventType.WORKFLOW_EXECUTION_FAILED, {
    case: "workflowExecutionFailedEventAttributes",
    value: {
      failure: {
        message: "no",
        failureInfo: {
          case: "applicationFailureInfo",
          value: { type: "T", details: payloads([{ code: 7 }]) },
        },
      },
      retryState: 1,
    },
  });
  return server.history();
}

const bytes = sample();
const message = fromBinary(HistorySchema, bytes);
/** Protobuf's own JSON. */
const proto = toJson(HistorySchema, message) as Loose;
const clone = (): Loose => structuredClone(proto);

/** Applies `change` to every object in a JSON value, innermost first. */
function walk(value: Loose, change: (node: Loose, key: string) => Loose, key = ""): Loose {
  if (Array.isArray(value)) return change(value.map((v) => walk(v, change, key)), key);
  if (typeof value === "object" && value !== null) {
    return change(
      Object.fromEntries(Object.entries(value).map(([k, v]) => [k, walk(v, change, k)])),
      key,
    );
  }
  return change(value, key);
}

const long = (text: string) => {
  const n = BigInt(text);
  return {
    low: Number(BigInt.asIntN(32, n)),
    high: Number(BigInt.asIntN(32, n >> 32n)),
    unsigned: false,
  };
};
const pascal = (name: string) =>
  name.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, c: string) => c.toUpperCase());
const fromBase64 = (text: string) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const isPayload = (node: Loose) =>
  typeof node === "object" && node !== null && "metadata" in node &&
  typeof node.metadata?.encoding === "string";
const textOf = (base64: string) => new TextDecoder().decode(fromBase64(base64));
const readable = (node: Loose): Loose => ({
  metadata: Object.fromEntries(
    Object.entries(node.metadata).map(([k, v]) => [k, textOf(v as string)]),
  ),
  data: node.data === undefined ? null : JSON.parse(textOf(node.data)),
});

/** The history in two parts, as servers keep it. */
const batches = () =>
  [message.events.slice(0, 2), message.events.slice(2)].map((events) =>
    toBinary(HistorySchema, create(HistorySchema, { events }))
  );
const responseBytes = (
  fields: MessageInitShape<typeof GetWorkflowExecutionHistoryResponseSchema>,
) =>
  toBinary(
    GetWorkflowExecutionHistoryResponseSchema,
    create(GetWorkflowExecutionHistoryResponseSchema, fields),
  );

const SHAPES: { readonly [name: string]: () => Uint8Array } = {
  "protobuf": () => bytes,
  "protobuf in base64": () => utf8.encode(btoa(String.fromCharCode(...bytes))),
  "gzip of protobuf": () => gzipSync(bytes),
  "gzip in base64": () => utf8.encode(gzipSync(bytes).toString("base64")),
  "command line JSON": () => json(proto),
  "indented, with a byte order mark": () =>
    utf8.encode(`\ufeff${JSON.stringify(proto, null, 2)}\n`),
  "UTF-16, as a shell redirects it": () => {
    const text = `\ufeff${JSON.stringify(proto)}`;
    return Uint8Array.from(
      text.split("").flatMap((c) => [c.charCodeAt(0) & 255, c.charCodeAt(0) >> 8]),
    );
  },
  "gzip of JSON": () => gzipSync(json(proto)),
  "one event per line": () =>
    utf8.encode(proto.events.map((e: Loose) => JSON.stringify(e)).join("\n") + "\n"),
  "the UI's encoded download: bare events": () => json(proto.events),
  "a response": () =>
    json({ history: proto, rawHistory: [], nextPageToken: null, archived: false }),
  "a response, newest first": () =>
    json({ history: { events: clone().events.reverse() }, nextPageToken: "" }),
  "a response with raw batches": () =>
    json({
      rawHistory: batches().map((data) => ({
        encodingType: "ENCODING_TYPE_PROTO3",
        data: btoa(String.fromCharCode(...data)),
      })),
    }),
  "a response in protobuf": () =>
    responseBytes({ history: message, nextPageToken: utf8.encode("next") }),
  "a response in protobuf with raw batches": () =>
    responseBytes({ rawHistory: batches().map((data) => ({ encodingType: 1, data })) }),
  "a list of one history": () => json([proto]),
  "JSON in a JSON string": () => json(JSON.stringify(proto)),
  "old tctl: PascalCase enums, numbers as numbers, empty fields as null": () =>
    json(walk(clone(), (node, key) => {
      if (key === "eventType") return pascal(node.replace("EVENT_TYPE_", ""));
      if (key === "eventId" || key === "scheduledEventId") return Number(node);
      if (key === "retryState" || key === "kind") {
        return pascal(node.replace(/^(?:RETRY_STATE|TASK_QUEUE_KIND)_/, ""));
      }
      return key === "workflowTaskScheduledEventAttributes"
        ? { ...node, header: null, identity: null }
        : node;
    })),
  "PascalCase names throughout": () =>
    json(
      walk(clone(), (node, key) =>
        typeof node === "object" && node !== null && !Array.isArray(node) &&
          !["metadata", "fields", "details"].includes(key) &&
          !isPayload(node)
          ? Object.fromEntries(
            Object.entries(node).map(([k, v]) => [k.charAt(0).toUpperCase() + k.slice(1), v]),
          )
          : node),
    ),
  "the choice of attributes in a nested object": () =>
    json({
      events: clone().events.map((event: Loose) => {
        const key = Object.keys(event).find((k) => k.endsWith("EventAttributes"))!;
        const { [key]: attributes, ...rest } = event;
        return Number(event.eventId) % 2 === 0
          ? { ...rest, Attributes: { [key]: attributes } }
          : { ...rest, attributes: { case: key, value: attributes } };
      }),
    }),
  "from before Temporal 1.0: decisions, nanoseconds, timeouts in seconds": () =>
    json({
      events: walk(clone(), (node, key) => {
        if (key === "eventType") {
          return pascal(node.replace("EVENT_TYPE_", "").replace("WORKFLOW_TASK", "DECISION_TASK"));
        }
        if (typeof node !== "object" || node === null || Array.isArray(node)) return node;
        return Object.fromEntries(
          Object.entries(node).map(([k, v]) => {
            if (k === "eventTime") return ["timestamp", Date.parse(v as string) * 1_000_000];
            return [
              k.replace(/^workflowTask(?=.*(?:EventAttributes|EventId)$)/, "decisionTask"),
              v,
            ];
          }),
        );
      }).events,
    }),
  "snake_case names": () =>
    json(
      walk(clone(), (node, key) =>
        typeof node === "object" && node !== null && !Array.isArray(node) &&
          !["metadata", "fields", "details"].includes(key)
          ? Object.fromEntries(
            Object.entries(node).map(([k, v]) => [
              k.replace(/[A-Z]/g, (c) =>
                `_${c.toLowerCase()}`),
              v,
            ]),
          )
          : node),
    ),
  "JSON.stringify(fetchHistory()): Long objects, seconds and nanos, enum numbers, bytes as objects":
    () =>
      json(walk(clone(), (node, key) => {
        if (
          key === "eventId" || key === "scheduledEventId" || key === "historySizeBytes"
        ) return long(node);
        if (key === "eventType") {
          return EventType[node.replace("EVENT_TYPE_", "") as keyof typeof EventType];
        }
        if (key === "eventTime") {
          return { seconds: long(String(BigInt(Math.trunc(Date.parse(node) / 1000)))), nanos: 0 };
        }
        if (key === "startToCloseTimeout") {
          return { seconds: "10", nanos: 500000000 };
        }
        if (!isPayload(node)) return node;
        return {
          metadata: Object.fromEntries(
            Object.entries(node.metadata).map(([k, v]) => [k, { ...fromBase64(v as string) }]),
          ),
          ...(node.data === undefined ? { data: {} } : { data: { ...fromBase64(node.data) } }),
        };
      })),
  "the same with Node's Buffers": () =>
    json(walk(clone(), (node) =>
      isPayload(node)
        ? {
          metadata: Object.fromEntries(
            Object.entries(node.metadata).map((
              [k, v],
            ) => [k, { type: "Buffer", data: [...fromBase64(v as string)] }]),
          ),
          data: { type: "Buffer", data: [...fromBase64(node.data ?? "")] },
        }
        : node)),
  "the UI's readable download": () =>
    json(walk(clone(), (node) => isPayload(node) ? readable(node) : node).events),
  "the UI's decoded download of 2023": () =>
    json(
      walk(clone(), (node) =>
        isPayload(node)
          ? {
            metadata: { ...node.metadata, encodingDecoded: readable(node).metadata.encoding },
            data: readable(node).data,
          }
          : node),
    ),
};

const comparable = (file: Uint8Array): Loose =>
  // A decoded null may have been an undefined (binary/null) or a null.
  walk(toJson(HistorySchema, fromBinary(HistorySchema, file)) as Loose, (node) => node);

for (const [name, make] of Object.entries(SHAPES)) {
  test(`history file: ${name}`, async () => {
    const file = await readHistoryFile(make());
    assert.deepEqual(comparable(file.bytes), comparable(bytes));
    assert.deepEqual([file.events, file.workflowType, file.runId], [6, "Sample", "run-1"]);
    const decoded = /readable|decoded/.test(name);
    assert.equal(
      file.notes.some((note) => /payloads were decoded/.test(note)),
      decoded,
      file.notes.join(),
    );
  });
}

test("history file: values without a payload envelope, as written by older UIs", async () => {
  const file = await readHistoryFile(
    json(walk(clone(), (node) => isPayload(node) ? readable(node).data : node)),
  );
  const started = fromBinary(HistorySchema, file.bytes).events[0]!.attributes.value as Loose;
  const texts = started.input.payloads.map((
    p: Loose,
  ) => [new TextDecoder().decode(p.metadata.encoding), new TextDecoder().decode(p.data)]);
  assert.deepEqual(texts, [["json/plain", '{"a":[1,null,"é"]}'], ["binary/null", ""], [
    "json/plain",
    '"text"',
  ]]);
});

const change = (edit: (history: Loose) => void): Uint8Array => {
  const copy = clone();
  edit(copy);
  return json(copy);
};

/** [what, file, expected error] */
const REFUSED: readonly (readonly [string, Uint8Array, RegExp])[] = [
  ["nothing", new Uint8Array(0), /the file is empty; expected a history in JSON or protobuf/],
  ["white space", utf8.encode(" \n"), /the file is empty/],
  ["a web page", utf8.encode("<!doctype html><title>Sign in</title>"), /web page .*login/],
  ["a zip archive", utf8.encode("PK\x03\x04rest"), /zip archive/],
  ["plain text", utf8.encode("hello"), /neither JSON nor a protobuf history/],
  [
    "random bytes",
    Uint8Array.from({ length: 300 }, (_, i) => (i * 7919) & 255),
    /neither JSON nor a protobuf history/,
  ],
  [
    "protobuf that is cut off",
    bytes.slice(0, bytes.length - 20),
    /neither JSON nor a protobuf history; it may be damaged or truncated/,
  ],
  ["JSON that is cut off", json(proto).slice(0, 700), /not valid JSON: it ends unexpectedly/],
  [
    "JSON with a mistake",
    utf8.encode('{"events": [\n  {"eventId": x}\n]}'),
    /not valid JSON: .*(?:line 2|Unexpected token)/,
  ],
  [
    "gzip that is cut off",
    gzipSync(json(proto)).subarray(0, 200),
    /gzip header, but cannot be decompressed/,
  ],
  [
    "gzip that lies",
    Uint8Array.from([0x1f, 0x8b, 8, 0, 1, 2, 3]),
    /gzip header, but cannot be decompressed/,
  ],
  ["other JSON", json({ name: "x", version: 1 }), /it has no "events" \(its keys: name, version\)/],
  ["a number", utf8.encode("[42]"), /a list, but its items are not events/],
  ["an empty list", utf8.encode("[]"), /an empty list/],
  ["no events", json({ events: [] }), /the history has no events/],
  ["several histories", json([proto, proto]), /has 2 histories; use one file per history/],
  [
    "a second page",
    change((h) => h.events.splice(0, 2)),
    /starts with event 3, not with event 1: the beginning is missing/,
  ],
  [
    "a gap",
    change((h) => h.events.splice(2, 1)),
    /events\[2\] has the id 4, after 2: events are missing between them/,
  ],
  [
    "a repeated event",
    change((h) => h.events.splice(2, 0, h.events[1])),
    /events\[2\] has the id 2, after 2: events are repeated/,
  ],
  [
    "two events in each other's place",
    change((h) => [h.events[2], h.events[4]] = [h.events[4], h.events[2]]),
    /events\[2\] has the id 5, after 2: events are repeated or out of order/,
  ],
  [
    "another first event",
    change((
      h,
    ) => (h.events.shift(), h.events.forEach((e: Loose, i: number) => e.eventId = String(i + 1)))),
    /not WorkflowExecutionStarted/,
  ],
  [
    "a wrong id",
    change((h) => h.events[1].eventId = "two"),
    /events\[1\]\.eventId should be a whole number, but is "two"/,
  ],
  [
    "a wrong time",
    change((h) => h.events[1].eventTime = "yesterday"),
    /events\[1\]\.eventTime should be a time, but is "yesterday"/,
  ],
  [
    "a wrong duration",
    change((h) => h.events[1].workflowTaskScheduledEventAttributes.startToCloseTimeout = "soon"),
    /startToCloseTimeout should be a duration, but is "soon"/,
  ],
  [
    "bytes that are not base64",
    change((h) =>
      h.events[0].workflowExecutionStartedEventAttributes.input.payloads[0] = {
        metadata: { encoding: "%%" },
        data: "x",
      }
    ),
    /events\[0\]\.workflowExecutionStartedEventAttributes\.input\.payloads\[0\] should be a payload/,
  ],
  [
    "an event without attributes",
    change((h) => delete h.events[1].workflowTaskScheduledEventAttributes),
    /events\[1\] \(eventId 2\), a EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, has no attributes/,
  ],
  [
    "nesting without end",
    utf8.encode(`{"events": [\n{"eventId": ${"[".repeat(100_000)}`),
    /not a history: it is nested more than 1000 levels deep \(line 2, column 1010\)/,
  ],
  [
    "causes without end",
    change((h) => {
      let failure: Loose = {};
      for (let i = 0; i < 300; i++) failure = { message: "m", cause: failure };
      h.events[3].markerRecordedEventAttributes.failure = failure;
    }),
    /events\[3\]\.markerRecordedEventAttributes\.failure\.cause.* is nested more than 100 messages deep/,
  ],
  [
    "a value that is not an event",
    change((h) => h.events[1] = { hello: 1 }),
    /events\[1\] is not an event/,
  ],
];

test("history file: null details, as written by old tctl, are empty", async () => {
  const read = await readHistoryFile(
    change((h) => h.events[3].markerRecordedEventAttributes.details.d = null),
  );
  const { attributes } = fromBinary(HistorySchema, read.bytes).events[3]!;
  assert.ok(attributes.case === "markerRecordedEventAttributes");
  assert.deepEqual(attributes.value.details["d"]?.payloads, []);
});

for (const [what, file, expected] of REFUSED) {
  test(`history file refused: ${what}`, async () => {
    await assert.rejects(readHistoryFile(file), (e: Error) => {
      assert.ok(e instanceof HistoryFileError, String(e.stack));
      assert.match(e.message, expected);
      return true;
    });
  });
}

test("history file: an event type of a newer server is kept with a note; other events are read as usual", async () => {
  const novel = {
    eventId: "2",
    eventTime: "2030-01-01T00:00:00Z",
    eventType: "EVENT_TYPE_NOVEL",
    novelEventAttributes: { x: 1 },
  };
  const file = await readHistoryFile(change((h) => h.events[1] = novel));
  const [started, second, ...rest] = fromBinary(HistorySchema, file.bytes).events;
  assert.equal(started!.attributes.case, "workflowExecutionStartedEventAttributes");
  assert.deepEqual([second!.eventId, second!.eventType, second!.attributes.case], [
    2n,
    EventType.UNSPECIFIED,
    undefined,
  ]);
  assert.ok(rest.every(({ attributes }) => attributes.case !== undefined));
  assert.deepEqual(file.notes, [
    'events[1] (eventId 2) is of type "EVENT_TYPE_NOVEL", which this version does not support; its attributes were omitted',
  ]);
});

test("history file: a reset run has the run id of its reset, not of the run that its first events were copied from", async () => {
  const reset = (newRunId: string) => (h: Loose) =>
    h.events.push({
      eventId: String(h.events.length + 1),
      eventTime: "2030-01-01T00:00:00Z",
      eventType: "EVENT_TYPE_WORKFLOW_TASK_FAILED",
      workflowTaskFailedEventAttributes: {
        cause: "WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW",
        baseRunId: "base",
        newRunId,
      },
    });
  const original = (await readHistoryFile(json(proto))).runId;
  assert.notEqual(original, "");
  assert.equal((await readHistoryFile(change(reset("first")))).runId, "first");
  assert.equal(
    (await readHistoryFile(change((h) => (reset("first")(h), reset("second")(h))))).runId,
    "second",
  );
});

test("history file: a damaged file yields a history or a HistoryFileError, never another error (P7)", async () => {
  let seed = 12345;
  const next = (n: number) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n;
  const originals = [bytes, json(proto), new Uint8Array(gzipSync(json(proto)))];
  for (let i = 0; i < 1500; i++) {
    const copy = originals[i % 3]!.slice();
    for (let k = next(4) + 1; k > 0; k--) copy[next(copy.length)] = next(256);
    const file = next(5) === 0 ? copy.slice(0, next(copy.length)) : copy;
    try {
      assert.ok((await readHistoryFile(file)).events > 0);
    } catch (e) {
      assert.ok(e instanceof HistoryFileError, `${(e as Error).stack}`);
    }
  }
});

const names = new Map(Object.entries(EventType).map(([name, number]) => [number as number, name]));
/** Everything that is reported about a history without its code is there, and throws nothing. */
async function opensWithoutCode(history: HistoryFile): Promise<void> {
  const run = await openRun(history);
  assert.equal(run.lines.length, history.events);
  const own = new Set(run.items.flatMap(({ eventIds }) => eventIds));
  assert.equal(own.size, history.events, "each event belongs to one thing");
  for (const item of run.items) {
    assert.notEqual(item.name, "");
    assert.doesNotMatch(item.name, /undefined|NaN|\[object/);
    for (
      const said of [
        run.inputOf(item),
        run.outputOf(item),
        run.failureOf(item),
        run.attemptsOf(item),
        run.detailOf(item),
      ]
    ) {
      assert.notEqual(said, null);
    }
    for (const { startMs, endMs } of run.attemptsOf(item)) {
      assert.ok(endMs === undefined || startMs! <= endMs);
    }
  }
  for (const { text, eventId } of run.findings) {
    assert.ok(text !== "" && eventId <= history.events, text);
  }
  assert.equal(run.limits[0]!.value, history.events);
}

const folder = "../shared/fixtures/histories";
const published = existsSync(`${folder}/index.json`);

test("published histories of Temporal's own projects", {
  skip: published ? false : "the folder of published histories is not next to this checkout",
}, async (t) => {
  const { entries } = JSON.parse(readFileSync(`${folder}/index.json`, "utf8")) as {
    entries: Loose[];
  };
  assert.equal(entries.length, 79);
  for (const entry of entries) {
    await t.test(entry.file, async () => {
      const file = new Uint8Array(readFileSync(`${folder}/${entry.file}`));
      // The official SDK refuses events of types that it does not know, and null among details;
      // here both are read.
      const history = await readHistoryFile(file);
      assert.equal(history.events, entry.eventsCount);
      await opensWithoutCode(history);
      assert.equal(history.workflowType, entry.workflowType);
      const events = fromBinary(HistorySchema, history.bytes).events;
      const types: { [type: string]: number } = {};
      for (const event of events) {
        const name = names.get(event.eventType)!;
        types[name] = (types[name] ?? 0) + 1;
      }
      const expected = { ...entry.eventTypes };
      // One history is from the time when workflow tasks were decisions; another has an event of an
      // unknown type; a third names types as tctl did.
      const unnamed = expected["undefined"] ?? 0;
      delete expected["undefined"];
      const rest = Object.entries(types).filter(([type]) => !(type in expected)).reduce(
        (sum, [, count]) => sum + count,
        0,
      );
      for (const type of Object.keys(types)) if (!(type in expected)) delete types[type];
      const strange = Object.keys(expected).filter((type) => !(type in EventType));
      assert.equal(rest, strange.reduce((sum, type) => sum + expected[type], unnamed));
      for (const type of strange) delete expected[type];
      assert.deepEqual(types, expected);
    });
  }
});
