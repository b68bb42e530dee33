// The reader and writer of encoded messages compared with the library's, also on invalid message
// bytes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import * as fields from "../../../ts/messages/generated/fields.ts";
import { PollWorkflowTaskQueueResponseSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import {
  concat,
  fieldHead,
  Fields,
  firstOf,
  intOf,
  lengthPrefix,
  Message,
  readBytes,
  readTextField,
  tagWithLength,
  timeMs,
} from "../../../ts/messages/wire.ts";

const TEXT = fields.WorkflowExecution.runId;
const INT = fields.PollWorkflowTaskQueueResponse.attempt;

test("strings of every length and alphabet are read as written", () => {
  const texts = [
    "",
    "a",
    "x".repeat(39),
    "x".repeat(40),
    "x".repeat(41),
    "x".repeat(5000),
    "grün",
    "\u{1f600}",
    "\ufeffmark",
    "a\0b",
  ];
  for (const text of texts) {
    const written = new Message().text(TEXT, text).finish();
    assert.deepEqual(written, new BinaryWriter().uint32(TEXT).string(text).finish());
    assert.equal(readTextField(written, TEXT), text);
  }
  assert.equal(
    readTextField(Uint8Array.of(TEXT, 1, 0xff), TEXT),
    "\ufffd",
    "invalid UTF-8 is replaced, as the library does",
  );
});

test("integers are exact up to 2 ** 53, also negative ones", () => {
  const numbers = [
    0,
    1,
    127,
    128,
    2 ** 21,
    2 ** 28 - 1,
    2 ** 28,
    2 ** 31,
    2 ** 32 - 1,
    2 ** 32,
    2 ** 35,
    2 ** 42 + 3,
  ];
  for (
    const number of [
      ...numbers,
      Number.MAX_SAFE_INTEGER,
      ...numbers.map((n) => -n),
      Number.MIN_SAFE_INTEGER,
    ]
  ) {
    const written = new Message().int(INT, number).finish();
    assert.deepEqual(
      written,
      new BinaryWriter().uint32(INT).int64(number).finish(),
      String(number),
    );
    assert.equal(intOf(written, INT), number === 0 ? 0 : number);
  }
  for (const number of [-1, -(2 ** 31), 2 ** 31 - 1]) {
    assert.equal(intOf(new BinaryWriter().uint32(INT).int32(number).finish(), INT), number);
  }
  assert.equal(intOf(new BinaryWriter().uint32(INT).uint64(2n ** 64n - 1n).finish(), INT), -1);
});

test("for a repeated singular field the last value counts; the first can be requested", () => {
  const twice = new Message().text(TEXT, "first").int(INT, 7).text(TEXT, "last").int(INT, 8)
    .finish();
  assert.deepEqual([readTextField(twice, TEXT), intOf(twice, INT)], ["last", 8]);
  assert.deepEqual(
    [readBytes(twice, TEXT), firstOf(twice, TEXT)].map((bytes) => new TextDecoder().decode(bytes)),
    [
      "last",
      "first",
    ],
  );
  const none = new Uint8Array(0);
  assert.deepEqual([
    readTextField(none, TEXT),
    intOf(none, INT),
    readBytes(none, TEXT),
    firstOf(none, TEXT),
  ], [
    "",
    0,
    undefined,
    undefined,
  ]);
});

test("a field with another wire type is a different field; unknown fields of all types are skipped", () => {
  const odd = new BinaryWriter()
    .tag(TEXT >>> 3, WireType.Varint).uint32(5).tag(INT >>> 3, WireType.LengthDelimited).string(
      "no number",
    )
    .tag(100, WireType.Bit32).fixed32(1).tag(101, WireType.Bit64).double(1)
    .tag(102, WireType.StartGroup).tag(TEXT >>> 3, WireType.LengthDelimited).string("in a group")
    .tag(103, WireType.StartGroup).tag(103, WireType.EndGroup).tag(102, WireType.EndGroup)
    .tag(TEXT >>> 3, WireType.LengthDelimited).string("found").finish();
  assert.deepEqual([readTextField(odd, TEXT), intOf(odd, INT)], ["found", 0]);
});

test("the range of a field includes its tag, its length and its content", () => {
  const bytes = new Message().int(INT, 300).text(TEXT, "abc").finish();
  const at = new Fields(bytes);
  assert.ok(at.next() && !at.hasLength);
  assert.deepEqual([at.start, at.valueAt, at.contentAt, at.end, at.number], [
    0,
    1,
    1,
    3,
    INT >>> 3,
  ]);
  assert.ok(at.next() && at.hasLength);
  assert.deepEqual([at.start, at.valueAt, at.contentAt, at.end], [3, 4, 5, 8]);
  assert.equal(at.bytes().buffer, bytes.buffer, "a view");
  assert.equal(at.next(), false);
});

test("a nested message ends at its length, even if its content claims to be longer", () => {
  const inner = new Message().text(TEXT, "abc").finish();
  const outer = new Message().bytes(tagWithLength(1), inner.subarray(0, 4)).text(
    tagWithLength(2),
    "behind it",
  ).finish();
  const at = new Fields(outer);
  assert.ok(at.next());
  assert.throws(() => at.inner().next(), RangeError);
});

test("invalid message bytes throw a RangeError, and the reader does not read past the end", () => {
  const bad = [
    [0x0a],
    [0x0a, 5, 1],
    [0x0a, 0x80],
    [0x08],
    [0x08, 0x80],
    [0, 1],
    [0x0c],
    [0x0b],
    [0x0b, 0x14],
    [0x0d, 1],
    [
      0x09,
      1,
    ],
  ];
  const long = [0x08, ...Array.from({ length: 11 }, () => 0xff), 1];
  for (
    const bytes of [...bad, [0x0e], [0x0f], long, [0xff, 0xff, 0xff, 0xff, 0xff, 1], [
      0x0a,
      0xff,
      0xff,
      0xff,
      0xff,
      0x0f,
    ]]
  ) {
    const whole = () => {
      for (const at = new Fields(Uint8Array.from(bytes)); at.next();) at.bytes();
    };
    assert.throws(whole, RangeError, bytes.join(" "));
  }
});

test("the error about invalid bytes names the field and its offset", () => {
  for (
    const [bytes, message] of [
      [[0x0a, 1, 65, 0x12, 5, 1], "the message ends inside the field (field 2 at byte 3 of 6)"],
      [[0x0a, 1, 65, 0x0f], "unsupported wire type 7 (field 1 at byte 3 of 4)"],
      [[0x0a, 1, 65, 0], "the field number is 0 (at byte 3 of 4)"],
      [
        [0x0a, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
        "the message ends inside a tag or length, or the number is too large (at byte 2 of 8)",
      ],
    ] as const
  ) {
    const read = () => {
      for (const at = new Fields(Uint8Array.from(bytes)); at.next();) at.bytes();
    };
    assert.throws(read, { name: "RangeError", message: `invalid protobuf: ${message}` });
  }
});

test("for random bytes, this reader and the library's find the same fields or both reject", () => {
  let seed = 7;
  const random = (n: number) => Math.floor((seed = (seed * 48271) % 2147483647) / 2147483647 * n);
  const base = toBinary(
    PollWorkflowTaskQueueResponseSchema,
    create(PollWorkflowTaskQueueResponseSchema, {
      taskToken: new Uint8Array([1, 2, 3]),
      workflowExecution: { workflowId: "w", runId: "r" },
      attempt: 3,
      startedEventId: -4n,
      history: { events: [{ eventId: 1n }, { eventId: 2n }] },
      scheduledTime: { seconds: 12n, nanos: 5 },
    }),
  );
  const found = (bytes: Uint8Array): unknown => {
    try {
      const list = [];
      for (const at = new Fields(bytes); at.next();) {
        list.push([at.tag, at.hasLength ? [...at.bytes()] : at.end - at.valueAt]);
      }
      return list;
    } catch {
      return "refused";
    }
  };
  const expected = (bytes: Uint8Array): unknown => {
    try {
      const list = [];
      const reader = new BinaryReader(bytes);
      while (reader.pos < reader.len) {
        const [number, type] = reader.tag();
        const begin = reader.pos;
        if (type === WireType.LengthDelimited) list.push([number * 8 + type, [...reader.bytes()]]);
        else {
          reader.skip(type, number);
          // The library passes over numbers of any length; ten bytes are the most that protobuf
          // has.
          if (type === WireType.Varint && reader.pos - begin > 10) return "refused";
          list.push([number * 8 + type, reader.pos - begin]);
        }
      }
      return list;
    } catch {
      return "refused";
    }
  };
  assert.deepEqual(found(base), expected(base));
  let refused = 0;
  for (let i = 0; i < 20_000; i++) {
    const bytes = random(2) === 0 ? base.slice() : base.slice(0, 1 + random(base.length));
    for (let change = random(4); change > 0; change--) bytes[random(bytes.length)] = random(256);
    const here = found(bytes);
    assert.deepEqual(here, expected(bytes), [...bytes].join(" "));
    if (here === "refused") refused++;
  }
  assert.ok(
    refused > 2000 && refused < 19_000,
    `both kinds are among them: ${refused} were refused`,
  );
});

test("timestamps, nested parts and heads of messages are read", () => {
  const time = new Message().int(fields.Timestamp.seconds, 12).int(
    fields.Timestamp.nanos,
    5_500_000,
  ).finish();
  assert.equal(timeMs(time), 12_005.5);
  assert.equal(timeMs(new Message().int(fields.Duration.seconds, -3).finish()), -3000);
  const [a, b] = [Uint8Array.of(1, 2), Uint8Array.of(3)];
  assert.deepEqual([...concat([a, b, a])], [1, 2, 3, 1, 2]);
  assert.equal(concat([new Uint8Array(0), a, new Uint8Array(0)]), a, "not copied");
  assert.deepEqual([...concat([])], []);
  for (const length of [0, 1, 127, 128, 16_383, 16_384, 2 ** 28, 2 ** 32 - 1]) {
    assert.deepEqual(lengthPrefix(length), new BinaryWriter().uint32(length).finish());
  }
  assert.deepEqual([...fieldHead(tagWithLength(20))], [0xa2, 1]);
});
