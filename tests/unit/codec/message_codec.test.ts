// Payload codecs over messages: every payload is encoded, nothing else changes, and errors of
// codecs are reported by name.
import { create, equals, fromBinary, toBinary } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { AnySchema, anyUnpack } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import assert from "node:assert/strict";
import { test } from "node:test";
import { type PayloadCodec, PayloadCodecError } from "../../../ts/codec/codec.ts";
import { fromFailure, toFailure } from "../../../ts/converter/failure_converter.ts";
import { ApplicationFailure } from "../../../ts/converter/failures.ts";
import { decodeHistory, MessageCodec } from "../../../ts/codec/message_codec.ts";
import { defaultPayloadConverter, type Payload } from "../../../ts/converter/payload.ts";
import {
  PayloadSchema,
  PayloadsSchema,
} from "../../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";
import {
  type Failure,
  FailureSchema,
} from "../../../ts/messages/generated/temporal/api/failure/v1/message_pb.ts";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import {
  RespondQueryTaskCompletedRequestSchema,
  RespondWorkflowTaskCompletedRequestSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { WorkflowService } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { invertingCodec } from "../../support/codecs.ts";
import { testSeed } from "../../support/seed.ts";
import {
  canonical,
  dice,
  eachPayload,
  encodeMessage,
  fill,
  MESSAGES,
  updates,
  utf8,
} from "./support/random_messages.ts";

test("no payload of any message is missed, and nothing else is touched", async () => {
  let payloads = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.constantFrom(...MESSAGES), async (seed, desc) => {
      const plain = fill(desc, dice(seed), 7);
      const codec = invertingCodec();
      const messages = MessageCodec.of({ codec })!;
      const encoded = await messages.encode(desc, encodeMessage(desc, plain));
      const expected = fromBinary(desc, encodeMessage(desc, plain));
      let count = 0;
      await eachPayload(reflect(desc, expected), async (payload) => {
        count++;
        return (await codec.encode([payload]))[0]!;
      });
      assert.ok(
        equals(desc, fromBinary(desc, encoded), expected),
        `${desc.typeName}, seed ${seed}`,
      );
      assert.equal(codec.encoded, 2 * count);
      payloads += count;
      const back = await canonical(desc, fromBinary(desc, await messages.decode(desc, encoded)));
      assert.ok(
        equals(desc, back, await canonical(desc, plain)),
        `${desc.typeName} back, seed ${seed}`,
      );
    }),
    { numRuns: 400, seed: testSeed() },
  );
  // About 3 per message with most seeds; the seed is new in each run.
  assert.ok(payloads > 100, `only ${payloads} payloads were generated`);
});

/** Removes the payloads in which failures had their text; messages in Any and DataBlob included. */
function withoutTextPayloads(message: ReflectMessage): void {
  const enter = (inner: ReflectMessage): void => {
    if (inner.desc.typeName === AnySchema.typeName) {
      const any = inner.message as unknown as { typeUrl: string; value: Uint8Array };
      const unpacked = anyUnpack(any as never, updates)!;
      const schema = updates.getMessage(unpacked.$typeName)!;
      withoutTextPayloads(reflect(schema, unpacked));
      any.value = encodeMessage(schema, unpacked);
    } else if (inner.desc.typeName === "temporal.api.common.v1.DataBlob") {
      const blob = inner.message as unknown as { data: Uint8Array };
      const history = fromBinary(HistorySchema, blob.data);
      withoutTextPayloads(reflect(HistorySchema, history));
      blob.data = encodeMessage(HistorySchema, history);
    } else withoutTextPayloads(inner);
  };
  const { desc } = message;
  if (desc.typeName === FailureSchema.typeName) {
    const failure = message.message as unknown as Failure;
    const data = failure.encodedAttributes?.data;
    const shown = JSON.stringify({ message: failure.message, stack_trace: failure.stackTrace });
    if (data !== undefined && new TextDecoder().decode(data) === shown) {
      message.clear(desc.field["encodedAttributes"]!);
    }
  }
  for (const field of desc.fields) {
    if (field.message === undefined || !message.isSet(field)) continue;
    if (field.fieldKind === "list") {
      for (const item of message.get(field)) enter(item as ReflectMessage);
    } else if (field.fieldKind === "map") {
      for (const [, item] of message.get(field)) enter(item as ReflectMessage);
    } else enter(message.get(field) as ReflectMessage);
  }
}

test("with encodeCommonAttributes all texts of a failure are encoded and can be decoded", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.constantFrom(...MESSAGES), async (seed, desc) => {
      const cause = new ApplicationFailure("SECRET cause", { details: [{ card: "SECRET" }] });
      const failure = toFailure(
        new ApplicationFailure("SECRET message", { type: "Declined", cause }),
      );
      const plain = fill(desc, dice(seed), 6);
      let failures = 0;
      const plant = (message: ReflectMessage, depth: number): void => {
        for (const field of message.desc.fields) {
          if (field.message === undefined || !message.isSet(field)) continue;
          if (field.message.typeName === FailureSchema.typeName && field.fieldKind === "message") {
            message.set(field, reflect(FailureSchema, failure));
            failures++;
          } else if (depth > 0) {
            if (field.fieldKind === "list") {
              for (const item of message.get(field)) plant(item as ReflectMessage, depth - 1);
            } else if (field.fieldKind === "map") {
              for (const [, item] of message.get(field)) plant(item as ReflectMessage, depth - 1);
            } else plant(message.get(field) as ReflectMessage, depth - 1);
          }
        }
      };
      plant(reflect(desc, plain), 4);
      const messages = MessageCodec.of({ codec: invertingCodec(), encodeCommonAttributes: true })!;
      const encoded = await messages.encode(desc, encodeMessage(desc, plain));
      assert.ok(!Buffer.from(encoded).includes("SECRET"), `${desc.typeName}, seed ${seed}`);
      if (failures > 0) assert.ok(Buffer.from(encoded).includes("Encoded failure"));
      const decoded = await messages.decode(desc, encoded); // passed on, without encodeCommonAttributes:
      const passedOn = await MessageCodec.of({ codec: invertingCodec() })!.encode(desc, decoded);
      assert.ok(
        !Buffer.from(passedOn).includes("SECRET"),
        `${desc.typeName} passed on, seed ${seed}`,
      );
      const back = fromBinary(desc, decoded);
      withoutTextPayloads(reflect(desc, back));
      if (!/query/i.test(desc.name) && !/WorkflowTaskCompletedRequest/.test(desc.name)) {
        assert.ok(
          equals(desc, await canonical(desc, back), await canonical(desc, plain)),
          `${desc.typeName} back, seed ${seed}`,
        );
      }
    }),
    { numRuns: 200, seed: testSeed() },
  );
});

test("a failure keeps its type, details and causes; readers without the codec see that it is encoded", async () => {
  const messages = MessageCodec.of({ codec: invertingCodec(), encodeCommonAttributes: true })!;
  const failure = toFailure(
    new ApplicationFailure("the card 4711 is refused", {
      type: "Declined",
      details: [{ card: 4711 }],
    }),
  );
  const encoded = await messages.encode(FailureSchema, toBinary(FailureSchema, failure));
  const stored = fromBinary(FailureSchema, encoded);
  assert.equal(stored.message, "Encoded failure");
  assert.equal(stored.stackTrace, "");
  assert.equal(stored.failureInfo.case, "applicationFailureInfo");
  const back = fromFailure(
    fromBinary(FailureSchema, await messages.decode(FailureSchema, encoded)),
  ) as ApplicationFailure;
  assert.equal(back.message, "the card 4711 is refused");
  assert.equal(back.type, "Declined");
  assert.deepEqual(back.details, [{ card: 4711 }]);
  assert.match(back.stack!, /message_codec/);
  // Encoded twice or decoded twice: nothing is lost.
  const twice = await messages.encode(FailureSchema, encoded);
  const once = await messages.decode(FailureSchema, twice);
  assert.deepEqual(
    await messages.decode(FailureSchema, once),
    await messages.decode(FailureSchema, await messages.decode(FailureSchema, once)),
  );
});

test("the message of a failed query is hidden wherever it occurs", async () => {
  const messages = MessageCodec.of({ codec: invertingCodec(), encodeCommonAttributes: true })!;
  const failure = toFailure(new ApplicationFailure("SECRET"));
  const direct = create(RespondQueryTaskCompletedRequestSchema, {
    errorMessage: "SECRET",
    failure,
  });
  const encoded = await messages.encode(
    RespondQueryTaskCompletedRequestSchema,
    toBinary(RespondQueryTaskCompletedRequestSchema, direct),
  );
  const inTask = create(RespondWorkflowTaskCompletedRequestSchema, {
    queryResults: { q: { errorMessage: "SECRET", failure } },
  });
  const encodedReport = await messages.encode(
    RespondWorkflowTaskCompletedRequestSchema,
    toBinary(RespondWorkflowTaskCompletedRequestSchema, inTask),
  );
  for (const bytes of [encoded, encodedReport]) assert.ok(!Buffer.from(bytes).includes("SECRET"));
  assert.equal(
    fromBinary(RespondQueryTaskCompletedRequestSchema, encoded).errorMessage,
    "Encoded failure",
  );
  const { queryResults } = fromBinary(
    RespondWorkflowTaskCompletedRequestSchema,
    await messages.decode(RespondWorkflowTaskCompletedRequestSchema, encodedReport),
  );
  assert.equal(queryResults["q"]!.failure!.message, "SECRET");
});

test("messages without payloads and unknown fields keep their bytes", async () => {
  const messages = MessageCodec.of({ codec: invertingCodec() })!;
  const empty = toBinary(HistorySchema, create(HistorySchema, { events: [{ eventId: 1n }] }));
  assert.equal(await messages.encode(HistorySchema, empty), empty);
  const unknown = new Uint8Array([0xa2, 0x06, 2, 7, 7]);
  const mixed = new Uint8Array([
    ...toBinary(FailureSchema, toFailure(new ApplicationFailure("x", { details: [1] }))),
    ...unknown,
  ]);
  const encoded = await messages.encode(FailureSchema, mixed);
  assert.deepEqual([...encoded.slice(-5)], [...unknown]);
  assert.deepEqual(await messages.decode(FailureSchema, encoded), mixed);
});

const one = (data: string): Uint8Array =>
  toBinary(
    HistorySchema,
    create(HistorySchema, {
      events: [{
        eventId: 1n,
        attributes: {
          case: "workflowExecutionStartedEventAttributes",
          value: {
            input: {
              payloads: [
                defaultPayloadConverter.toPayload(data),
                defaultPayloadConverter.toPayload(2),
              ],
            },
          },
        },
      }],
    }),
  );

test("a codec that violates its contract is reported with the field", async () => {
  const payload: Payload = { metadata: {}, data: new Uint8Array(0) };
  const bad: [RegExp, (payloads: Payload[]) => unknown][] = [
    [/was given 2 payloads and returned 1/, (p) => [p[0]]],
    [/was given 2 payloads and returned 3/, (p) => [...p, payload]],
    [/was given 2 payloads and returned 0/, () => []],
    [/value of type undefined, not a list of payloads/, () => undefined],
    [/returned null, not a list of payloads/, () => null],
    [/data is not a Uint8Array/, (p) => p.map(() => ({ metadata: {}, data: "text" }))],
    [/data is not a Uint8Array/, (p) => p.map(() => undefined)],
    [/without metadata/, (p) => p.map(() => ({ data: new Uint8Array(0) }))],
    [
      /metadata that is not a Uint8Array/,
      (p) => p.map(() => ({ metadata: { encoding: "x" }, data: new Uint8Array(0) })),
    ],
    [/KeyError: no key k7/, () => {
      throw Object.assign(new Error("no key k7"), { name: "KeyError" });
    }],
    [/rejected/, () => Promise.reject("rejected")],
  ];
  for (const [message, answer] of bad) {
    const codec = { encode: answer, decode: answer } as unknown as PayloadCodec;
    const messages = MessageCodec.of({ codec })!;
    for (const direction of ["encode", "decode"] as const) {
      await assert.rejects(
        messages[direction](HistorySchema, one("a")),
        (error: PayloadCodecError) => {
          assert.ok(error instanceof PayloadCodecError);
          assert.match(error.message, message);
          assert.match(
            error.message,
            new RegExp(`could not ${direction} WorkflowExecutionStartedEventAttributes.input`),
          );
          return true;
        },
      );
    }
  }
});

test("a codec call that never settles times out", async () => {
  const never = {
    encode: () => new Promise<Payload[]>(() => {}),
    decode: () => new Promise<Payload[]>(() => {}),
  };
  await assert.rejects(
    MessageCodec.of({ codec: never })!.decode(HistorySchema, one("a"), { timeoutMs: 20 }),
    /did not return within 20 ms/,
  );
});

test("an invalid codec is rejected at once", () => {
  assert.throws(() => MessageCodec.of({ codec: {} as PayloadCodec }), /`encode` and `decode`/);
  assert.throws(
    () => MessageCodec.of({ codec: [invertingCodec(), undefined as unknown as PayloadCodec] }),
    /`encode` and `decode`/,
  );
  assert.throws(() => MessageCodec.of({ encodeCommonAttributes: true }), /needs a codec/);
  assert.equal(MessageCodec.of({}), undefined);
  assert.equal(MessageCodec.of({ codec: [] }), undefined);
});

test("several codecs decode in reverse order, and a long history is decoded in parts", async () => {
  const sizes: number[] = [];
  const inner = invertingCodec("binary/one");
  const counting: PayloadCodec = {
    encode: (payloads) => {
      sizes.push(payloads.length);
      return inner.encode(payloads);
    },
    decode: (payloads) => inner.decode(payloads),
  };
  const messages = MessageCodec.of({ codec: [counting, invertingCodec("binary/two")] })!;
  const many = create(HistorySchema, {
    events: Array.from({ length: 300 }, (_, i) => ({
      eventId: BigInt(i + 1),
      attributes: {
        case: "workflowExecutionSignaledEventAttributes" as const,
        value: { signalName: "s", input: { payloads: [defaultPayloadConverter.toPayload(i)] } },
      },
    })),
  });
  const bytes = toBinary(HistorySchema, many);
  const encoded = await messages.encode(HistorySchema, bytes);
  assert.deepEqual(sizes, [128, 128, 44]);
  assert.ok(
    Buffer.from(encoded).includes("binary/two") && !Buffer.from(encoded).includes("binary/one"),
  );
  assert.deepEqual(await messages.decode(HistorySchema, encoded), bytes);
});

test("damaged bytes throw a specific error", async () => {
  const messages = MessageCodec.of({ codec: invertingCodec(), encodeCommonAttributes: true })!;
  const whole = one("some text that is long enough to be cut");
  for (let length = 1; length < whole.length; length++) {
    for (const verb of ["encode", "decode"] as const) {
      await messages[verb](HistorySchema, whole.slice(0, length)).catch((error) =>
        assert.ok(error instanceof PayloadCodecError, error)
      );
    }
  }
  let deep: Uint8Array = toBinary(FailureSchema, create(FailureSchema, { message: "deep" }));
  for (let i = 0; i < 5000; i++) {
    const length = [];
    for (let n = deep.length;; n >>>= 7) {
      length.push(n > 127 ? (n & 127) | 128 : n);
      if (n <= 127) break;
    }
    deep = new Uint8Array([0x22, ...length, ...deep]);
  }
  await assert.rejects(messages.encode(FailureSchema, deep), /nested deeper than 100/);
});

test("a codec may change its input payloads and return them", async () => {
  const flip = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 255);
  const codecs: PayloadCodec[] = [
    {
      encode: (
        payloads,
      ) => (payloads.forEach((payload) => payload.data = flip(payload.data)),
        Promise.resolve(payloads)),
      decode: (
        payloads,
      ) => (payloads.forEach((payload) => payload.data = flip(payload.data)),
        Promise.resolve(payloads)),
    },
    {
      encode: (
        payloads,
      ) => (payloads.forEach(({ data }) => data.set(flip(data))), Promise.resolve(payloads)),
      decode: (
        payloads,
      ) => (payloads.forEach(({ data }) => data.set(flip(data))), Promise.resolve(payloads)),
    },
    {
      encode: (
        payloads,
      ) => (payloads.forEach(({ metadata }) => metadata["by"] = flip(new Uint8Array(1))),
        Promise.resolve(payloads)),
      decode: (
        payloads,
      ) => (payloads.forEach(({ metadata }) => delete metadata["by"]), Promise.resolve(payloads)),
    },
  ];
  const plain = encodeMessage(
    PayloadsSchema,
    create(PayloadsSchema, { payloads: [{ data: utf8.encode("secret") }] }),
  );
  for (const codec of codecs) {
    const encoded = await MessageCodec.of({ codec })!.encode(PayloadsSchema, plain);
    assert.notDeepEqual(encoded, plain);
    assert.deepEqual(await MessageCodec.of({ codec })!.decode(PayloadsSchema, encoded), plain);
  }
});

test("metadata keeps keys of any name", async () => {
  const seen: Payload[] = [];
  const codec: PayloadCodec = {
    encode: (payloads) =>
      Promise.resolve(payloads.map((payload) => (seen.push(payload), { ...payload }))),
    decode: (payloads) => Promise.resolve(payloads),
  };
  // Written by hand: an entry { 1: "__proto__", 2: "p" }, then the data "x".
  const key = [...utf8.encode("__proto__")];
  const payload = [0x0a, key.length + 5, 0x0a, key.length, ...key, 0x12, 1, 0x70, 0x12, 1, 0x78];
  const payloads = new Uint8Array([0x0a, payload.length, ...payload]);
  assert.deepEqual(await MessageCodec.of({ codec })!.encode(PayloadsSchema, payloads), payloads);
  assert.deepEqual(Object.keys(seen[0]!.metadata), ["__proto__"]);
});

test("a history is decoded for replay; without a codec it is returned unchanged", async () => {
  const codec = invertingCodec();
  const plain = one("secret");
  const encoded = await MessageCodec.of({ codec })!.encode(HistorySchema, plain);
  assert.ok(!Buffer.from(encoded).includes("secret"));
  assert.deepEqual(await decodeHistory(encoded, codec), plain);
  assert.equal(await decodeHistory(encoded, undefined), encoded);
});

test("on request, a payload that cannot be decoded does not prevent decoding of the others", async () => {
  const good = invertingCodec("binary/good");
  const encoded = await MessageCodec.of({ codec: good })!.encode(HistorySchema, one("first"));
  let calls = 0;
  const codec: PayloadCodec = {
    encode: good.encode,
    decode: async (payloads) => {
      if (payloads.length > 1 || calls++ === 0) throw new Error("blob is gone");
      return await good.decode(payloads);
    },
  };
  const history = fromBinary(
    HistorySchema,
    await MessageCodec.of({ codec })!.decode(HistorySchema, encoded, { lenient: true }),
  );
  const started = history.events[0]!.attributes.value as unknown as {
    input: { payloads: Payload[] };
  };
  const [first, second] = started.input.payloads;
  assert.throws(() => defaultPayloadConverter.fromPayload(first!), /binary\/good/);
  assert.equal(defaultPayloadConverter.fromPayload(second!), 2);
});

test("headers are encoded, except for the trace context that other SDKs must read", async () => {
  const codec = MessageCodec.of({ codec: invertingCodec() })!;
  const payload = (value: unknown) =>
    create(PayloadSchema, defaultPayloadConverter.toPayload(value));
  const carrier = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };
  const { input: schema } = WorkflowService.method.startWorkflowExecution;
  const request = create(schema, {
    header: { fields: { "_tracer-data": payload(carrier), tenant: payload("acme") } },
  });
  const bytes = toBinary(schema, request);
  const encoded = fromBinary(schema, await codec.encode(schema, bytes)).header!.fields;
  assert.deepEqual(defaultPayloadConverter.fromPayload(encoded["_tracer-data"]!), carrier);
  assert.throws(() => defaultPayloadConverter.fromPayload(encoded["tenant"]!));
  assert.deepEqual(await codec.decode(schema, await codec.encode(schema, bytes)), bytes);
});
