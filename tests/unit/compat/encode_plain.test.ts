// Encoding the official packages' form in one pass: the same bytes and errors as by way of
// protobuf-es messages, for histories and for histories that were changed at random.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import { PayloadSchema } from "../../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";
import { FailureSchema } from "../../../ts/messages/generated/temporal/api/failure/v1/message_pb.ts";
import {
  HistoryEventSchema,
  HistorySchema,
} from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { encodePlain, encodeUsual } from "../../../ts/compat/common/encode_plain.ts";
import { Long } from "../../../ts/compat/common/long.ts";
import { fromPlain, type PlainMessage, toPlain } from "../../../ts/compat/common/plain_proto.ts";
import { readHistoryFile } from "../../../ts/history_files/history_file.ts";

/** Folders of histories: in the repository, and next to the checkout if present. */
const FOLDERS = [
  "tests/unit/compat/histories",
  "../shared/fixtures/bench",
  "../shared/fixtures/compat/corpus",
  "../shared/fixtures/histories",
];

/** Encoded histories by file name. Files that are not histories are left out. */
async function readHistories(): Promise<Map<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  for (const folder of FOLDERS.filter((path) => existsSync(path))) {
    for (const file of readdirSync(folder, { recursive: true }) as string[]) {
      if (!/\.(?:json|bin)$/.test(file) || file.endsWith("index.json")) continue;
      const read = await readHistoryFile(new Uint8Array(readFileSync(join(folder, file)))).catch(
        () => undefined,
      );
      if (read !== undefined) found.set(`${folder}/${file}`, read.bytes);
    }
  }
  return found;
}

const histories = await readHistories();

const encodeByMessage = (desc: DescMessage, plain: PlainMessage): Uint8Array =>
  toBinary(desc, fromPlain(desc, plain));

/** `assert.deepEqual` is slow for large arrays. */
const areEqual = (a: Uint8Array | undefined, b: Uint8Array) =>
  a?.length === b.length && a.every((byte, i) => byte === b[i]);

/** Bytes in hex, or the error's text. */
function outcome(encode: typeof encodePlain, desc: DescMessage, plain: PlainMessage): string {
  try {
    return Array.from(encode(desc, plain), (byte) => byte.toString(16).padStart(2, "0")).join("");
  } catch (error) {
    return String(error);
  }
}

const assertSame = (desc: DescMessage, plain: PlainMessage, what: string) =>
  assert.equal(outcome(encodePlain, desc, plain), outcome(encodeByMessage, desc, plain), what);

test("decoded histories are encoded in one pass, to the same bytes", async () => {
  assert.ok(histories.size > 0);
  for (const [name, bytes] of histories) {
    const plain = toPlain(HistorySchema, fromBinary(HistorySchema, bytes));
    const expected = encodeByMessage(HistorySchema, plain);
    assert.ok(areEqual(encodeUsual(HistorySchema, plain), expected), name);
    // Without prototypes, and with properties in the reverse order.
    const reversed = copyReversed(plain);
    assert.ok(
      areEqual(encodeUsual(HistorySchema, reversed), encodeByMessage(HistorySchema, reversed)),
      `${name}, reversed`,
    );
  }
});

function copyReversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyReversed);
  if (
    typeof value !== "object" || value === null || value instanceof Uint8Array || Long.isLong(value)
  ) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, copyReversed(each)] as const).reverse(),
  );
}

/** Random numbers below 2 ** 32 from a seed. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

type Holder = { [name: string]: unknown };

/** All objects of a message: messages, lists, maps, Longs and byte arrays. */
function objectsIn(value: unknown, found: Holder[] = []): Holder[] {
  if (typeof value !== "object" || value === null) return found;
  found.push(value as Holder);
  if (!(value instanceof Uint8Array)) {
    for (const each of Object.values(value)) objectsIn(each, found);
  }
  return found;
}

/** Values that a field may be set to, of usual, unusual and wrong forms. */
const values = (): readonly unknown[] => [
  ...[
    undefined,
    null,
    0,
    -0,
    1,
    -1,
    7.5,
    NaN,
    2 ** 31,
    2 ** 40,
    -(2 ** 40),
    5n,
    -5n,
    2n ** 70n,
    "",
    "0",
    "12",
    "text",
    "\ud800",
    "né",
  ],
  ...[true, false, [], [1], [undefined], {}, { low: 3, high: 0 }, {
    low: -1,
    high: -1,
    unsigned: true,
  }, { low: 0.5, high: 0 }],
  ...[
    Long.fromNumber(-3),
    Long.UZERO,
    new Uint8Array(0),
    new Uint8Array([1, 2]),
    "AQI=",
    "EVENT_TYPE_TIMER_FIRED",
    new Map([["a", 1]]),
  ],
  ...[new Set([1]), Object.create({ seconds: 5 }), () => 1, Symbol.iterator, {
    payloads: [{ data: new Uint8Array([9]) }],
  }],
];

/** Changes one property of an object; returns a description. */
function change(target: Holder, pick: (below: number) => number): string {
  if (target instanceof Uint8Array) {
    target[pick(target.length)] ^= 1;
    return "a byte";
  }
  const names = [
    ...Object.getOwnPropertyNames(target),
    ...Object.keys(Object.getPrototypeOf(target) ?? {}),
  ]
    .filter((each) => each !== "length");
  const name = names[pick(names.length)] ?? "added";
  const index = pick(values().length);
  const value = values()[index];
  switch (pick(6)) {
    case 0:
      Reflect.deleteProperty(target, name);
      return `deletes ${name}`;
    case 1:
      Reflect.defineProperty(target, name, {
        value,
        enumerable: false,
        configurable: true,
        writable: true,
      });
      return `hides ${name}, value ${index}`;
    case 2:
      Reflect.defineProperty(target, name, {
        get: () => value,
        enumerable: true,
        configurable: true,
      });
      return `getter ${name}, value ${index}`;
    case 3:
      Reflect.setPrototypeOf(target, { [name]: value });
      return `inherits ${name}, value ${index}`;
    case 4: {
      const inherited = Object.create(Object.getPrototypeOf(target), {
        [name]: { get: () => value, enumerable: true },
      });
      Reflect.setPrototypeOf(target, inherited);
      return `inherits a getter ${name}, value ${index}`;
    }
    default:
      Reflect.set(target, name, value);
      return `sets ${name}, value ${index}`;
  }
}

test("a change of any property, at any depth, is encoded as by way of a message", async () => {
  const pick = numbersFrom(29);
  let changed = 0, usual = 0;
  // The repository alone has few histories.
  const rounds = Math.max(25, Math.ceil(600 / histories.size));
  for (const [name, bytes] of histories) {
    const { events } = fromBinary(HistorySchema, bytes);
    for (let round = 0; round < rounds; round++) {
      const event = toPlain(HistoryEventSchema, events[pick(events.length)]!);
      const before = outcome(encodePlain, HistoryEventSchema, event);
      const said: string[] = [];
      for (let changes = 1 + pick(2); changes > 0; changes--) {
        const objects = objectsIn(event);
        said.push(change(objects[pick(objects.length)]!, pick));
      }
      const after = outcome(encodePlain, HistoryEventSchema, event);
      assert.equal(
        after,
        outcome(encodeByMessage, HistoryEventSchema, event),
        `${name}, round ${round}: ${said.join("; ")}`,
      );
      if (after !== before) changed++;
      if (
        before !== "" && !after.includes("Error") &&
        encodeUsual(HistoryEventSchema, event) !== undefined
      ) usual++;
    }
  }
  assert.ok(changed > 80 && usual > 80, `${changed} changed, ${usual} in one pass`);
});

test("properties of a shared prototype are noticed, and no longer when they are removed", () => {
  const event = toPlain(
    HistoryEventSchema,
    fromPlain(HistoryEventSchema, { eventId: 5, eventTime: { seconds: 3 } }),
  );
  const prototype = Object.getPrototypeOf(event) as Holder;
  const before = outcome(encodePlain, HistoryEventSchema, event);
  const { taskId } = prototype;
  try {
    prototype["taskId"] = 8;
    assert.notEqual(outcome(encodePlain, HistoryEventSchema, event), before);
    assertSame(HistoryEventSchema, event, "the prototype has a task id");
  } finally {
    prototype["taskId"] = taskId;
  }
  assert.equal(outcome(encodePlain, HistoryEventSchema, event), before);
});

test("values of other forms are converted first", () => {
  const two = {
    timerStartedEventAttributes: { timerId: "1" },
    timerFiredEventAttributes: { timerId: "2" },
  };
  assert.equal(
    encodeUsual(HistoryEventSchema, two),
    undefined,
    "of two members of a oneof, one is encoded",
  );
  assertSame(HistoryEventSchema, two, "two members of a oneof");
  const backwards: number[] = [1];
  Object.defineProperty(backwards, Symbol.iterator, { value: () => [{ eventId: 9 }].values() });
  assertSame(HistorySchema, { events: backwards }, "an array with its own iterator");
  assertSame(HistorySchema, { events: new Set([{ eventId: 9 }]) }, "a set of events");
  assertSame(
    PayloadSchema,
    { metadata: { encoding: "anNvbg==" }, data: "AQI=" },
    "bytes in base64",
  );
  assertSame(
    FailureSchema,
    { timeoutFailureInfo: { timeoutType: "TIMEOUT_TYPE_HEARTBEAT" } },
    "the name of an enumeration's value",
  );
  for (const plain of [undefined, null, 5, "text", []]) {
    assertSame(HistorySchema, plain, String(plain));
  }
});
