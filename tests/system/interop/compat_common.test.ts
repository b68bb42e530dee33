// runtime: node
// The same probes of `@temporalio/common` and of this package: converters, enumerations, policies,
// failures. They return and throw the same.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";
import * as ours from "../../../ts/compat/common/host.ts";
import { noOfficial, root } from "./support/official.ts";

type Common = typeof ours;
const official = noOfficial === false
  ? createRequire(join(root, "tests/system/interop/x.js"))("@temporalio/common") as Common
  : undefined;

/** Bytes and Longs in one form; fields that are not set are left out. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return `bytes:${new TextDecoder().decode(value)}`;
  if (ours.isRecord(value) && (value as { __isLong__?: boolean }).__isLong__) {
    return `long:${value}`;
  }
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Date || !ours.isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([, field]) => field !== undefined).map(([k, v]) => [k, plain(v)]),
  );
}

function outcome(fn: () => unknown): unknown {
  try {
    return plain(fn());
  } catch (e) {
    return `${(e as Error).name}: ${(e as Error).message}`;
  }
}

const VALUES: unknown[] = [
  undefined,
  null,
  1,
  "x",
  [1, { a: 2 }],
  new Uint8Array([104, 105]),
  new Date(0),
  10n,
  true,
];
const PROBES: { readonly [name: string]: (common: Common) => unknown } = {
  "values to payloads": (c) =>
    VALUES.map((value) => outcome(() => c.defaultPayloadConverter.toPayload(value))),
  "payloads to values": (c) =>
    VALUES.slice(0, 7).map((value) =>
      c.defaultPayloadConverter.fromPayload(c.defaultPayloadConverter.toPayload(value))
    ),
  "an unknown encoding": (c) =>
    c.defaultPayloadConverter.fromPayload({ metadata: { encoding: c.u8("x/y") }, data: c.u8("1") }),
  "no metadata": (c) => c.defaultPayloadConverter.fromPayload({ data: c.u8("1") }),
  "a hint that no converter knows": (c) =>
    c.defaultPayloadConverter.toPayload(1, undefined, { converter: "mine" }),
  "raw values": (c) =>
    c.defaultPayloadConverter.toPayload(c.RawValue.fromPayload({ metadata: {}, data: c.u8("1") })),
  "lists": (
    c,
  ) => [c.toPayloads(c.defaultPayloadConverter), c.toPayloads(c.defaultPayloadConverter, 1, "a")],
  "lists back": (c) =>
    c.arrayFromPayloads(c.defaultPayloadConverter, c.toPayloads(c.defaultPayloadConverter, 1, "a")),
  "one of a list": (c) =>
    c.fromPayloadsAtIndex(c.defaultPayloadConverter, 3, c.toPayloads(c.defaultPayloadConverter, 1)),
  "records": (c) => c.mapToPayloads(c.defaultPayloadConverter, { a: 1, b: [] }),
  "transfer types": (c) =>
    c.toPayloadWithTypeInfo(c.defaultPayloadConverter, new Date(5), undefined, {
      transferTypeConverter: {
        toTransferType: (date: Date) => date.getTime(),
        fromTransferType: (ms: number) => new Date(ms),
      },
    }),
  "policies of starts": (c) =>
    [
      ...Object.values(c.WorkflowIdReusePolicy),
      "WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE",
      2,
      null,
      "nonsense",
      {},
    ].map((
      value,
    ) => outcome(() => c.encodeWorkflowIdReusePolicy(value as never))),
  "policies back": (c) =>
    [0, 1, 2, 3, 4, 9, null].map((value) => c.decodeWorkflowIdReusePolicy(value)),
  "conflict policies": (c) =>
    Object.values(c.WorkflowIdConflictPolicy).map((value) =>
      c.encodeWorkflowIdConflictPolicy(value)
    ),
  "timeout types": (
    c,
  ) => [c.TimeoutType, ...[0, 1, 2, 3, 4].map((value) => c.decodeTimeoutType(value))],
  "retry states": (
    c,
  ) => [c.RetryState, ...[0, 1, 2, 3, 4, 5, 6, 7].map((value) => c.decodeRetryState(value))],
  "categories": (
    c,
  ) => [c.encodeApplicationFailureCategory("BENIGN"), c.decodeApplicationFailureCategory(1)],
  "versioning": (c) => [
    c.encodeVersioningBehavior("PINNED"),
    c.decodeVersioningBehavior(2),
    c.encodeInitialVersioningBehavior("USE_RAMPING_VERSION"),
    c.decodeInitialVersioningBehavior(1),
    c.toCanonicalString({ deploymentName: "d", buildId: "1.0" }),
  ],
  "retry policies": (c) =>
    [
      {},
      { maximumAttempts: Infinity, initialInterval: "2s" as const, maximumInterval: 4000 },
      { maximumAttempts: 1.5 },
      { maximumAttempts: 0 },
      { backoffCoefficient: 0 },
      { initialInterval: 0 },
      { maximumInterval: 500 },
    ].map((policy) => outcome(() => c.compileRetryPolicy(policy))),
  "retry policies back": (c) =>
    c.decompileRetryPolicy(
      c.compileRetryPolicy({ maximumAttempts: 3, nonRetryableErrorTypes: ["X"] }),
    ),
  "priorities": (
    c,
  ) => [
    c.compilePriority({ priorityKey: 2 }),
    c.decodePriority({ fairnessKey: "a" }),
    c.decodePriority(null),
  ],
  "a priority that is not one": (c) => c.compilePriority({ priorityKey: 1.5 }),
  "times": (
    c,
  ) => [
    c.msToTs("1.5s"),
    c.tsToMs(c.msToTs(1234)),
    c.optionalTsToDate(null),
    c.msToNumber("1 day"),
  ],
  "a time that is not one": (c) => c.msToTs(NaN),
  "durations that are neither numbers nor text": (c) =>
    [undefined, null, "", "soon", {}, ["5"], new Date(5)].map((value) =>
      outcome(() => c.msToNumber(value as never))
    ),
  "names of workflows": (
    c,
  ) => [c.extractWorkflowType("x"), c.extractWorkflowType(async function named() {})],
  "a workflow without a name": (c) => c.extractWorkflowType((() => async () => {})()),
  "search attributes": (c) =>
    new c.TypedSearchAttributes([{ key: c.defineSearchAttributeKey("a", "KEYWORD"), value: "x" }])
      .updateCopy([{ key: c.defineSearchAttributeKey("b", "INT"), value: 1 }]).getAll(),
  "failures": (c) =>
    [
      new c.ApplicationFailure(
        "boom",
        "Kind",
        true,
        [1, "two"],
        new c.CancelledFailure("why", ["d"]),
        "3s",
        "BENIGN",
      ),
      new c.TimeoutFailure("late", { beat: 1 }, "HEARTBEAT"),
      new c.ActivityFailure(
        "act",
        "charge",
        "1",
        "TIMEOUT",
        "me",
        new c.TimeoutFailure("late", undefined, "START_TO_CLOSE"),
      ),
      new c.ChildWorkflowFailure(
        "default",
        { workflowId: "w", runId: "r" },
        "child",
        "MAXIMUM_ATTEMPTS_REACHED",
      ),
      new c.TerminatedFailure("gone"),
      new c.ServerFailure("server", true),
      new c.TemporalFailure("bare"),
    ].map((error) => {
      error.stack = "";
      if (error.cause) error.cause.stack = "";
      const failure = c.defaultFailureConverter.errorToFailure(error, c.defaultPayloadConverter);
      const back = c.defaultFailureConverter.failureToError(failure, c.defaultPayloadConverter) as
        & Error
        & { type?: string };
      return [
        failure.message,
        failure.source,
        back.name,
        back.message,
        back.type,
        String(back.cause),
        back instanceof c.TemporalFailure,
      ];
    }),
  "failures as they are printed": (c) => {
    const application = {
      message: "bad",
      source: "GoSDK",
      stackTrace: "Error: bad\n    at x (y.ts:1:1)",
    };
    const cause = { ...application, applicationFailureInfo: { type: "T" } };
    const activityFailureInfo = {
      activityId: "1",
      activityType: { name: "a" },
      retryState: 3,
      identity: "me",
    };
    const read = c.defaultFailureConverter.failureToError(
      {
        message: "Activity task failed",
        source: "",
        stackTrace: "",
        cause,
        activityFailureInfo,
      } as never,
      c.defaultPayloadConverter,
    );
    const made = new c.ChildWorkflowFailure(
      "n",
      { workflowId: "w", runId: "r" },
      "t",
      "TIMEOUT",
      new c.CancelledFailure("c", [1]),
    );
    return [read, made].map((error) =>
      inspect(error, { depth: 5 }).replace(/\n *(?:at |\.\.\. ).*?( \{)?$/gm, "$1")
    );
  },
  "causes of failures that a server has written": (c) => {
    const cause = {
      message: "again",
      source: "",
      stackTrace: "",
      cause: null,
      applicationFailureInfo: { type: "T" },
    };
    return [
      { timeoutFailureInfo: { timeoutType: 3 } },
      { canceledFailureInfo: {} },
      { terminatedFailureInfo: {} },
      { serverFailureInfo: {} },
      { resetWorkflowFailureInfo: {} },
    ].map((info) => {
      const failure = { message: "", source: "", stackTrace: "", cause, ...info };
      const error = c.defaultFailureConverter.failureToError(
        failure as never,
        c.defaultPayloadConverter,
      );
      return [
        error.constructor.name,
        (error.cause as Error | undefined)?.message,
        "cause" in error,
      ];
    });
  },
  "fields of a failure": (c) => {
    const error = new c.ApplicationFailure("boom", "Kind", true, [1]);
    const { applicationFailureInfo: info } = c.defaultFailureConverter.errorToFailure(
      error,
      c.defaultPayloadConverter,
    );
    return [info.type, info.nonRetryable, info.details, info.nextRetryDelay ?? null];
  },
  "a delay of the next attempt, also of no time": (c) =>
    [0, "0s", 1500, undefined, null].map((delay) => {
      const error = new c.ApplicationFailure("boom", "Kind", false, [], undefined, delay as never);
      const { applicationFailureInfo } = c.defaultFailureConverter.errorToFailure(
        error,
        c.defaultPayloadConverter,
      );
      const given = applicationFailureInfo.nextRetryDelay;
      return given ? [String(given.seconds ?? 0), given.nanos ?? 0] : null;
    }),
  "encoded attributes": (c) => {
    const converter = new c.DefaultFailureConverter({ encodeCommonAttributes: true });
    const failure = converter.errorToFailure(
      new c.ApplicationFailure("secret", "Kind"),
      c.defaultPayloadConverter,
    );
    const error = converter.failureToError(failure, c.defaultPayloadConverter);
    return [failure.message, failure.stackTrace, error.message];
  },
  "what is not an error": (c) =>
    ["text", 7, { a: 1 }, null].map((thrown) =>
      c.defaultFailureConverter.errorToFailure(thrown, c.defaultPayloadConverter).message
    ),
  "names of errors": (c) =>
    [
      new c.ValueError("x"),
      new c.IllegalStateError("x"),
      new c.ApplicationFailure("x"),
      new c.CompleteAsyncError(),
    ]
      .map((error) => [error.name, String(error), Object.keys(error).includes("name")]),
  "composed loggers": (c) => {
    const lines: unknown[] = [];
    const write = (...line: unknown[]) => void lines.push(line);
    const base = { log: write, trace: write, debug: write, info: write, warn: write, error: write };
    const logger = c.LoggerWithComposedMetadata.compose(
      c.LoggerWithComposedMetadata.compose(base, { a: 1 }),
      () => ({ b: 2 }),
    );
    logger.info("hi", { c: undefined, d: 4 });
    logger.log("WARN", "hm");
    return lines;
  },
  "composed meters": (c) => {
    const meter = c.MetricMeterWithComposedTags.compose(c.noopMetricMeter, { a: 1 });
    const counter = meter.createCounter("n", "u", "d").withTags({ b: 2 });
    return [
      counter.name,
      counter.unit,
      counter.kind,
      counter.valueType,
      meter === c.noopMetricMeter,
    ];
  },
  "external storage": (c) => new c.ExternalStorage({ drivers: [] }),
  "payload validation": (c) => {
    const { message, type, nonRetryable, details } = c.createPayloadValidationError("x");
    return [message, type, nonRetryable, details];
  },
};

// deno-lint-ignore no-explicit-any
type Any = any;
/**
 * Of the copy of protobufjs that the official package has: its reflection knows its own classes
 * alone.
 */
const load = (name: string): Any =>
  createRequire(join(root, "tests/system/interop/node_modules/@temporalio/common/x.js"))(name);
/** What deep imports of the official package have, as one object. */
const officialLib = (): Common =>
  Object.assign(
    {},
    official,
    ...["protobufs", "time", "search-attributes", "converter/payload-search-attributes"].map((
      part,
    ) => load(`@temporalio/common/lib/${part}`)),
  ) as Common;

const PROTO = `
  syntax = "proto3"; package shop;
  enum Kind { NONE = 0; BOOK = 1; }
  message Line { string what = 1; int64 cents = 2; }
  message Order { string id = 1; Kind kind = 2; repeated Line lines = 3; map<string, int32> counts = 4; bytes mark = 5; double ratio = 6; }`;

const DEEP: { readonly [name: string]: (common: Common) => unknown } = {
  "types of search attributes": (c) =>
    [
      "TEXT",
      "KEYWORD",
      "INT",
      "DOUBLE",
      "BOOL",
      "DATETIME",
      "KEYWORD_LIST",
      "INDEXED_VALUE_TYPE_TEXT",
      3,
      undefined,
      "DATE",
    ].map(
      (
        type,
      ) => outcome(() => c.encodeSearchAttributeIndexedValueType(type as never)),
    ),
  "messages of protobufjs": (c) => {
    const root = c.patchProtobufRoot(
      load("protobufjs").parse(PROTO, { keepCase: false }).root,
    ) as Any;
    const order = root.shop.Order.create({
      id: "o-1",
      kind: 1,
      lines: [{ what: "tea", cents: 250 }],
      counts: { a: 1 },
      mark: new Uint8Array([1, 2]),
      ratio: 0.5,
    });
    const both = new c.DefaultPayloadConverterWithProtobufs({ protobufRoot: root });
    const binary = new c.ProtobufBinaryPayloadConverter(root);
    const json = both.toPayload(order);
    const back = both.fromPayload<Any>(json);
    const bytes = binary.toPayload(order)!;
    return [
      json.metadata,
      JSON.parse(c.str(json.data!)),
      [back.id, back.kind, back.lines[0].what, String(back.lines[0].cents), back.counts, [
        ...back.mark,
      ], back.ratio],
      bytes,
      binary.fromPayload<Any>(bytes).id,
      outcome(() => new c.ProtobufBinaryPayloadConverter().fromPayload(bytes)),
      outcome(() =>
        binary.fromPayload({
          ...bytes,
          metadata: { ...bytes.metadata, messageType: c.u8("shop.Nothing") },
        })
      ),
      outcome(() => new c.ProtobufJsonPayloadConverter({})),
      both.toPayload({ plain: true }),
    ];
  },
  "search attributes on the wire": (c) => {
    const fields = c.encodeUnifiedSearchAttributes({ old: ["a"], when: [new Date(0)] }, [
      { key: c.defineSearchAttributeKey("n", "INT"), value: 3 },
    ]);
    return [
      fields,
      c.decodeSearchAttributes(fields),
      c.decodeTypedSearchAttributes(fields).getAll(),
    ];
  },
};
/** Adds a byte; the last one is taken off first. */
function adds(byte: number): ours.PayloadCodec {
  const each = (payloads: ours.Payload[], change: (data: Uint8Array) => Uint8Array) =>
    Promise.resolve(payloads.map((payload) => ({ ...payload, data: change(payload.data!) })));
  return {
    encode: (payloads) => each(payloads, (data) => new Uint8Array([...data, byte])),
    decode: (payloads) =>
      each(payloads, (data) => (assert.equal(data.at(-1), byte), data.slice(0, -1))),
  };
}

/** Functions of `lib/internal-non-workflow`, which are named as others of `lib` in part. */
const CODEC_PROBES: { readonly [name: string]: (lib: Common, text: Common) => Promise<unknown> } = {
  "payloads through codecs": async (c, { u8 }) => {
    const codecs = [adds(1), adds(2)];
    const sent = await c.encode(codecs, [{ metadata: {}, data: u8("a") }]);
    return [sent, await c.decode(codecs, sent)];
  },
  "values through codecs": async (c, text) => {
    const payloadCodecs = [adds(1), adds(2)];
    const converter = { ...text.defaultDataConverter, payloadCodecs };
    const list = await c.encodeToPayloads(converter, 1, "b");
    const map = await c.encodeMapToPayloads(converter, { a: [1], b: null });
    return [
      list,
      await c.encodeToPayloads(converter),
      await c.decodeArrayFromPayloads(converter, list),
      await c.decodeFromPayloadsAtIndex(converter, 1, list),
      await c.decodeFromPayloadsAtIndex(converter, 2, list),
      await c.decodeOptionalSinglePayload(converter, list![0]),
      await c.decodeOptionalSinglePayload(converter, undefined),
      await c.encodeToPayload(converter, { x: 1 }),
      await c.decodeOptionalSingle(payloadCodecs, list![0]),
      map,
      await c.decodeMapFromPayloads(converter, map),
      await c.decodeMapFromPayloads(converter, null),
    ];
  },
};

for (const [name, probe] of Object.entries(CODEC_PROBES)) {
  test(
    `as the official package's lib/internal-non-workflow: ${name}`,
    { skip: noOfficial },
    async () => {
      const require = createRequire(join(root, "tests/system/interop/x.js"));
      const theirs = require("@temporalio/common/lib/internal-non-workflow") as Common;
      assert.deepEqual(
        plain(await probe(ours, ours)),
        plain(await probe(theirs, require("@temporalio/common") as Common)),
      );
    },
  );
}

test("functions with one name in two files of lib are distinguished by their arguments", async () => {
  assert.equal(ours.decode(ours.encode("text")), "text");
  assert.deepEqual(await ours.decode([], []), []);
});

test("a history as JSON and back", () => {
  const json = JSON.parse(
    readFileSync(join(root, "tests/unit/compat/histories/callbacks.json"), "utf8"),
  );
  const history = ours.historyFromJSON(json);
  assert.deepEqual([
    history.events.length,
    history.events[0].eventType,
    String(history.events[0].eventId),
  ], [148, 1, "1"]);
  assert.deepEqual(JSON.parse(ours.historyToJSON(history)), json);
  assert.throws(
    () => ours.historyFromJSON({}),
    /^TypeError: Invalid history, expected an object with an array of events/,
  );
});

test("a history of an older export with other enumeration names is read", () => {
  const attributes = { workflowType: { name: "w" }, taskQueue: { name: "q", kind: "Normal" } };
  const events = [{
    eventId: "1",
    eventType: "WorkflowExecutionStarted",
    workflowExecutionStartedEventAttributes: attributes,
  }];
  const [event] = ours.historyFromJSON({ events }).events;
  assert.deepEqual(
    [event.eventType, event.workflowExecutionStartedEventAttributes.taskQueue.kind],
    [1, 1],
  );
});

test("payloads as JSON and back", () => {
  const json = ours.payloadToJSON(ours.defaultPayloadConverter.toPayload({ a: 1 }));
  assert.deepEqual(json, { metadata: { encoding: btoa("json/plain") }, data: btoa('{"a":1}') });
  assert.deepEqual(ours.defaultPayloadConverter.fromPayload(ours.JSONToPayload(json)), { a: 1 });
});

for (const [name, probe] of Object.entries(DEEP)) {
  test(`as the official package's lib: ${name}`, { skip: noOfficial }, () => {
    assert.deepEqual(outcome(() => probe(ours)), outcome(() => probe(officialLib())));
  });
}

for (const [name, probe] of Object.entries(PROBES)) {
  test(`as the official package: ${name}`, { skip: noOfficial }, () => {
    assert.deepEqual(outcome(() => probe(ours)), outcome(() => probe(official!)));
  });
}
