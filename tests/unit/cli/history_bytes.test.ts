// What is read from JSON is, byte for byte, what an encoder of protobuf writes: exports are
// compared, and the core reads the bytes as they are.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Buffer } from "node:buffer";
import { fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { readHistoryFile } from "../../../ts/history_files/history_file.ts";
import { MAX_NESTING, nestedTooDeep } from "../../../ts/history_files/json_nesting.ts";
import { timestamp } from "../../../ts/history_files/json_scalars.ts";
import { decodeBase64 } from "../../../ts/history_files/payload_json.ts";
import { isSurely } from "../../../ts/history_files/wire_check.ts";

const utf8 = new TextEncoder();
const long = "é".repeat(300);

/**
 * Every kind of field: numbers of all sizes and signs, packed lists, maps, bytes, times, a choice,
 * and defaults that are written out.
 */
const history: JsonValue = {
  events: [
    {
      eventId: "1",
      eventTime: "2026-11-20T18:06:35.607668350Z",
      eventType: "EVENT_TYPE_WORKFLOW_EXECUTION_STARTED",
      version: "-1",
      taskId: "9007199254740993",
      workflowExecutionStartedEventAttributes: {
        workflowType: { name: long },
        input: {
          payloads: [{ metadata: { encoding: "anNvbi9wbGFpbg==" }, data: "AAECAwQFBgcICQ==" }, {}],
        },
        workflowRunTimeout: "0s",
        workflowTaskTimeout: "-1.500s",
        attempt: 0,
        initiator: "CONTINUE_AS_NEW_INITIATOR_UNSPECIFIED",
        retryPolicy: {
          backoffCoefficient: 2.5,
          maximumAttempts: -3,
          nonRetryableErrorTypes: ["", "x"],
        },
        memo: { fields: { [long]: { data: "" } } },
        searchAttributes: { indexedFields: {} },
        header: {},
        workflowId: "",
      },
    },
    {
      eventId: "2",
      eventType: "EVENT_TYPE_WORKFLOW_TASK_COMPLETED",
      workerMayIgnore: true,
      workflowTaskCompletedEventAttributes: {
        scheduledEventId: "4294967296",
        sdkMetadata: { coreUsedFlags: [1, 300, 4294967295], langUsedFlags: [] },
      },
    },
  ],
};

test("JSON is converted to the bytes of an encoder, whatever the order of its fields", async () => {
  const expected = toBinary(HistorySchema, fromJson(HistorySchema, history));
  const read = async (json: unknown) =>
    (await readHistoryFile(utf8.encode(JSON.stringify(json)))).bytes;
  assert.deepEqual(await read(history), expected);
  assert.deepEqual(await read(reversed(history)), expected);
  assert.deepEqual(
    fromBinary(
      HistorySchema,
      await read(toJson(HistorySchema, fromBinary(HistorySchema, expected))),
    ).events.length,
    2,
  );
});

function reversed(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(reversed);
  if (typeof json !== "object" || json === null) return json;
  // Maps keep their order, which is their bytes.
  return Object.fromEntries(
    Object.entries(json).toReversed().map(([key, value]) => [key, reversed(value)]),
  );
}

test("protobuf input is used unchanged, as a plain Uint8Array also if it is a Buffer", async () => {
  const bytes = toBinary(HistorySchema, fromJson(HistorySchema, history));
  const file = await readHistoryFile(Buffer.from(bytes));
  assert.equal(Object.getPrototypeOf(file.bytes), Uint8Array.prototype);
  assert.deepEqual(file.bytes, bytes);
});

test("errors do not quote user values", async () => {
  const secret = {
    events: [{
      eventId: 1,
      workflowExecutionStartedEventAttributes: {
        input: "4111-1111",
        memo: { fields: { card: [true] } },
      },
    }],
  };
  await assert.rejects(readHistoryFile(utf8.encode(JSON.stringify(secret))), {
    message:
      "events[0].workflowExecutionStartedEventAttributes.input should be payloads, but is a text",
  });
});

test("base64 is accepted in both alphabets, with and without padding, and with line breaks; other text is rejected", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => (i * 37) & 255);
  for (let length = 0; length < 256; length++) {
    const part = bytes.subarray(0, length);
    const text = btoa(String.fromCharCode(...part));
    assert.deepEqual(decodeBase64(text), part.slice());
    assert.deepEqual(
      decodeBase64(text.replace(/=+$/, "").replaceAll("+", "-").replaceAll("/", "_")),
      part.slice(),
    );
    assert.deepEqual(decodeBase64(text.replace(/.{64}/g, "$&\r\n")), part.slice());
  }
  for (const no of ["a", "ab=", "abc==", "a===", "====", "ab!c", "é", "abcde", "ab=c"]) {
    assert.equal(decodeBase64(no), undefined, no);
  }
});

test("bytes recognized as a message can be decoded, and the bytes of an encoder are recognized", () => {
  const bytes = toBinary(HistorySchema, fromJson(HistorySchema, history));
  assert.equal(isSurely(HistorySchema, bytes), true);
  for (let at = 0; at < bytes.length; at++) {
    for (const byte of [0x00, 0x7f, 0x80, 0xff, bytes[at]! ^ 1, bytes[at]! ^ 8]) {
      const damaged = bytes.slice();
      damaged[at] = byte;
      if (isSurely(HistorySchema, damaged)) {
        assert.doesNotThrow(() => fromBinary(HistorySchema, damaged), `${byte} at ${at}`);
      }
      if (isSurely(HistorySchema, bytes.subarray(0, at))) {
        fromBinary(HistorySchema, bytes.subarray(0, at));
      }
    }
  }
  const open = bytes.slice();
  const last = Buffer.from(bytes).indexOf(Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f])) + 4;
  open[last] = 0x8f; // the last number of the packed list does not end with it
  assert.equal(isSurely(HistorySchema, open), false);
});

test("a time in the common format is read like in other formats", () => {
  for (
    const text of [
      "2024-02-28T23:59:59Z",
      "2026-11-20T18:06:35.607668350Z",
      "1969-12-31T23:59:59.5Z",
      "2024-01-01T00:00:00.000001Z",
    ]
  ) {
    assert.deepEqual(timestamp(text), timestamp(text.replace("Z", "+00:00")), text);
  }
  assert.deepEqual(timestamp("2024-02-29T00:00:00Z"), { seconds: 1709164800, nanos: 0 });
  for (
    const text of [
      "2024-13-01T00:00:00Z",
      "2024-01-01T00:61:00Z",
      "2024-01-01T00:00:00.Z",
      "2024-01-0xT00:00:00Z",
    ]
  ) {
    assert.equal(timestamp(text), undefined, text);
  }
});

test("the nesting depth of JSON ignores brackets in strings", () => {
  const deep = (n: number, inside: string) => "[".repeat(n) + inside + "]".repeat(n);
  for (const inside of ['"[[["', '"\\"[[["', '"\\\\"', '"\\\\\\"["', '""']) {
    assert.equal(nestedTooDeep(deep(MAX_NESTING, inside)), undefined, inside);
    assert.match(
      nestedTooDeep(deep(MAX_NESTING, `${inside},[]`)) ?? "",
      /nested more than/,
      inside,
    );
  }
  assert.equal(nestedTooDeep('"no end ['), undefined);
});
