// What is read from JSON is, byte for byte, what an encoder of protobuf writes: exports are compared, and the core reads the bytes as they are.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Buffer } from "node:buffer";
import { fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import { HistorySchema } from "../../ts/api/generated/temporal/api/history/v1/message_pb.ts";
import { readHistoryFile } from "../../ts/debug/history_file.ts";
import { fromBase64 } from "../../ts/debug/payload_json.ts";

const utf8 = new TextEncoder();
const long = "é".repeat(300);

/** Every kind of field: numbers of all sizes and signs, packed lists, maps, bytes, times, a choice, and defaults that are written out. */
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
        input: { payloads: [{ metadata: { encoding: "anNvbi9wbGFpbg==" }, data: "AAECAwQFBgcICQ==" }, {}] },
        workflowRunTimeout: "0s",
        workflowTaskTimeout: "-1.500s",
        attempt: 0,
        initiator: "CONTINUE_AS_NEW_INITIATOR_UNSPECIFIED",
        retryPolicy: { backoffCoefficient: 2.5, maximumAttempts: -3, nonRetryableErrorTypes: ["", "x"] },
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

test("JSON becomes the bytes that an encoder writes, whatever the order of its fields", async () => {
  const expected = toBinary(HistorySchema, fromJson(HistorySchema, history));
  const read = async (json: unknown) => (await readHistoryFile(utf8.encode(JSON.stringify(json)))).bytes;
  assert.deepEqual(await read(history), expected);
  assert.deepEqual(await read(reversed(history)), expected);
  assert.deepEqual(
    fromBinary(HistorySchema, await read(toJson(HistorySchema, fromBinary(HistorySchema, expected)))).events.length,
    2,
  );
});

function reversed(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(reversed);
  if (typeof json !== "object" || json === null) return json;
  // Maps keep their order, which is their bytes.
  return Object.fromEntries(Object.entries(json).toReversed().map(([key, value]) => [key, reversed(value)]));
}

test("protobuf is taken as it is, as plain bytes, also where Node's Buffer holds it", async () => {
  const bytes = toBinary(HistorySchema, fromJson(HistorySchema, history));
  const file = await readHistoryFile(Buffer.from(bytes));
  assert.equal(Object.getPrototypeOf(file.bytes), Uint8Array.prototype);
  assert.deepEqual(file.bytes, bytes);
});

test("a value of the user's is not repeated in an error", async () => {
  const secret = {
    events: [{ eventId: 1, workflowExecutionStartedEventAttributes: { input: "4111-1111", memo: { fields: { card: [true] } } } }],
  };
  await assert.rejects(readHistoryFile(utf8.encode(JSON.stringify(secret))), {
    message: "events[0].workflowExecutionStartedEventAttributes.input should be payloads, but is a text",
  });
});

test("base64 of both alphabets, with and without padding, and with line ends; nothing else", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => (i * 37) & 255);
  for (let length = 0; length < 256; length++) {
    const part = bytes.subarray(0, length);
    const text = btoa(String.fromCharCode(...part));
    assert.deepEqual(fromBase64(text), part.slice());
    assert.deepEqual(fromBase64(text.replace(/=+$/, "").replaceAll("+", "-").replaceAll("/", "_")), part.slice());
    assert.deepEqual(fromBase64(text.replace(/.{64}/g, "$&\r\n")), part.slice());
  }
  for (const no of ["a", "ab=", "abc==", "a===", "====", "ab!c", "é", "abcde", "ab=c"]) {
    assert.equal(fromBase64(no), undefined, no);
  }
});
