// Payloads of a history that no run is given: a worker leaves them alone, so one that no longer
// decodes (its key is gone) fails no task. Replays and readers of histories decode them where they
// can.
import { create, type DescMessage, toBinary } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Client,
  createWorkerRealm,
  decodeHistory,
  EmbeddedEngine,
  MemoryStore,
  type PayloadCodec,
  PayloadCodecError,
  silentLogger,
  Worker,
} from "../../../ts/mod.ts";
import { PayloadSchema } from "../../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";
import { FailureSchema } from "../../../ts/messages/generated/temporal/api/failure/v1/message_pb.ts";
import {
  type HistoryEvent,
  HistoryEventSchema,
  HistorySchema,
} from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { openRun } from "../../../ts/debug/mod.ts";
import { MessageCodec } from "../../../ts/codec/message_codec.ts";
import { encodingOf, invertingCodec } from "../../support/codecs.ts";
import * as activities from "./activities.ts";
import { EXPECTED, live } from "./live.ts";
import { SECRET } from "./workflows/secrets.ts";

/** A message with one payload wherever there can be one; failures have them in their details. */
function full(desc: DescMessage): unknown {
  if (desc.typeName === PayloadSchema.typeName) {
    return create(PayloadSchema, { data: new Uint8Array([1]) });
  }
  if (desc.typeName === FailureSchema.typeName) {
    const details = { payloads: [{ data: new Uint8Array([1]) }] };
    return create(FailureSchema, {
      failureInfo: { case: "applicationFailureInfo", value: { details } },
    });
  }
  const message = reflect(desc);
  for (const field of desc.fields) {
    if (field.message === undefined || field.message.typeName.startsWith("google.protobuf.")) {
      continue;
    }
    const value = reflect(field.message, full(field.message) as never);
    if (field.fieldKind === "list") message.get(field).add(value as never);
    else if (field.fieldKind === "map") {
      if (field.mapKey === 9) message.get(field).set("a", value as never);
    } else if (field.oneof === undefined) message.set(field, value as never);
  }
  return message.message;
}

test("for each event type either all payloads are decoded for a run or none", async () => {
  const given = new Set<string>(), notGiven = new Set<string>();
  for (const field of HistoryEventSchema.fields) {
    if (field.fieldKind !== "message") continue;
    const message = reflect(HistoryEventSchema);
    message.set(field, reflect(field.message, full(field.message) as never));
    const bytes = toBinary(HistoryEventSchema, message.message as HistoryEvent);
    const counts = [false, true].map(async (givenOnly) => {
      let seen = 0;
      const codec = {
        encode: async (p: never) => p,
        decode: async (p: unknown[]) => (seen += p.length, p),
      } as never;
      assert.deepEqual(
        await MessageCodec.of({ codec })!.decode(HistoryEventSchema, bytes, { givenOnly }),
        bytes,
      );
      return seen;
    });
    const [all, some] = await Promise.all(counts);
    if (all === 0) continue;
    assert.ok(some === 0 || some === all, field.localName);
    (some === 0 ? notGiven : given).add(field.localName.replace("EventAttributes", ""));
  }
  assert.deepEqual([...given].sort(), [
    "activityTaskCanceled",
    "activityTaskCompleted",
    "activityTaskFailed",
    "activityTaskTimedOut",
    "childWorkflowExecutionCanceled",
    "childWorkflowExecutionCompleted",
    "childWorkflowExecutionFailed",
    "markerRecorded",
    "nexusOperationCancelRequestFailed",
    "nexusOperationCanceled",
    "nexusOperationCompleted",
    "nexusOperationFailed",
    "nexusOperationTimedOut",
    "workflowExecutionSignaled",
    "workflowExecutionStarted",
    "workflowExecutionUpdateAccepted",
    "workflowExecutionUpdateAdmitted",
  ]);
  assert.ok(
    notGiven.has("activityTaskScheduled") && notGiven.has("userMetadata") && notGiven.size >= 15,
    [...notGiven].join(),
  );
});

/** Decodes no payload that is one of the texts. */
function without(...texts: string[]): PayloadCodec & { refused: number } {
  const inner = invertingCodec();
  const codec = {
    refused: 0,
    encode: inner.encode,
    decode: async (payloads: Parameters<PayloadCodec["decode"]>[0]) => {
      const decoded = await inner.decode(payloads);
      const plain = decoded.map(({ data }) => new TextDecoder().decode(data));
      const lost = plain.find((text, i) =>
        encodingOf(payloads[i]!) === "binary/inverted" &&
        texts.some((each) => text === JSON.stringify(`${SECRET} ${each}`))
      );
      if (lost === undefined) return decoded;
      codec.refused++;
      throw new Error(`the key of ${lost} is gone`);
    },
  };
  return codec;
}

const workflows = new URL("./workflows/secrets.ts", import.meta.url);
/**
 * What the program sends away, in all of its runs; the second run's arguments are given to that
 * run.
 */
const SENT = [
  "start argument",
  "to fail with",
  "update and kept SECRET update",
  "summary",
  "details",
];

test("a worker without a cache and a replay continue although earlier values of the run no longer decode", async () => {
  const codec = without(...SENT);
  const common = {
    service: await EmbeddedEngine.open({ store: new MemoryStore() }),
    taskQueue: "given",
    logger: silentLogger,
  };
  const client = new Client({ ...common, codec: invertingCodec() });
  const flows = await Worker.create({ ...common, workflows, codec, cachedWorkflows: 0 });
  const others = await Worker.create({ ...common, activities, codec: invertingCodec() });
  const stopped = Promise.all([flows.run(), others.run()]);
  try {
    const { handle, first } = await live(client, "w", "done");
    assert.deepEqual(await handle.result(), EXPECTED);
    assert.equal(codec.refused, 0, "the worker's codec was given something that no run is given");
    const bytes = await first.historyBytes();
    const refusing = without(...SENT);
    const decoded = await decodeHistory(bytes, refusing);
    assert.ok(refusing.refused > 3, "it met some that it refuses");
    const realm = await createWorkerRealm({
      workflows,
      cacheSize: 0,
      runOptions: { namespace: "default", identity: "replay" },
    });
    const verdict = await realm.replay("w", decoded);
    assert.equal(verdict.verdict, "ok", verdict.error?.message);
    await realm.dispose();
    const reader = new Client({ ...common, codec: refusing });
    const read = await reader.getHandle("Secrets", "w", first.runId!).historyBytes({
      decode: true,
    });
    for (const history of [decoded, read]) {
      // Decoded values are shown next to undecodable ones.
      const text = new TextDecoder().decode((await openRun(history)).bytes);
      for (const shown of ["start", "signal", "second run", "side effect"]) {
        assert.ok(text.includes(`${SECRET} ${shown}`), shown);
      }
      for (const lost of SENT) assert.ok(!text.includes(JSON.stringify(`${SECRET} ${lost}`)), lost);
    }
    await assert.rejects(decodeHistory(bytes, without("signal")), (error) => {
      assert.ok(error instanceof PayloadCodecError, String(error));
      return /SECRET signal.* is gone/.test(error.message);
    });
  } finally {
    await Promise.all([flows.shutdown(), others.shutdown()]);
    await stopped;
    await common.service.close();
  }
});

test("an unavailable codec is called a few times for a history, not once per payload", async () => {
  const payload = { data: new Uint8Array([1]) };
  const input = { payloads: Array.from({ length: 500 }, () => payload) };
  const events = [
    { attributes: { case: "workflowExecutionSignaledEventAttributes" as const, value: { input } } },
    { attributes: { case: "activityTaskScheduledEventAttributes" as const, value: { input } } },
  ];
  const history = toBinary(HistorySchema, create(HistorySchema, { events }));
  let calls = 0;
  const away = async (): Promise<never> => {
    calls++;
    throw new Error("not handled");
  };
  await assert.rejects(decodeHistory(history, { encode: away, decode: away }), PayloadCodecError);
  assert.ok(calls <= 20, `it was asked ${calls} times`);
});
