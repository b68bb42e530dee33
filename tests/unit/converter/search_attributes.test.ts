// Search attributes with types: what is written, what is read back, and what is refused with a word
// about it.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  defineSearchAttributeKey,
  type Payload,
  type SearchAttributes,
  type SearchAttributeType,
  toSearchAttributePayloads,
  TypedSearchAttributes,
} from "../../../ts/converter/mod.ts";

const text = new TextDecoder();
const decodeForComparison = (
  { metadata, data }: Payload,
) => [text.decode(metadata["type"]), text.decode(data)];
const customer = defineSearchAttributeKey("Customer", "KEYWORD");
const notes = defineSearchAttributeKey("Notes", "TEXT");
const amount = defineSearchAttributeKey("Amount", "DOUBLE");
const items = defineSearchAttributeKey("Items", "INT");
const paid = defineSearchAttributeKey("Paid", "BOOL");
const due = defineSearchAttributeKey("Due", "DATETIME");
const tags = defineSearchAttributeKey("Tags", "KEYWORD_LIST");
const moment = new Date("2030-01-02T03:04:05.678Z");
const ALL: SearchAttributes = [
  { key: customer, value: "ada" },
  { key: notes, value: "two words" },
  { key: amount, value: 3 },
  { key: items, value: 7 },
  { key: paid, value: false },
  { key: due, value: moment },
  { key: tags, value: ["a", "b"] },
];

test("each type is written as JSON with its name, and read back", () => {
  const payloads = toSearchAttributePayloads(ALL);
  assert.deepEqual(
    Object.fromEntries(
      Object.entries(payloads).map(([name, payload]) => [name, decodeForComparison(payload)]),
    ),
    {
      Customer: ["Keyword", '"ada"'],
      Notes: ["Text", '"two words"'],
      Amount: ["Double", "3"],
      Items: ["Int", "7"],
      Paid: ["Bool", "false"],
      Due: ["Datetime", '"2030-01-02T03:04:05.678Z"'],
      Tags: ["KeywordList", '["a","b"]'],
    },
  );
  const read = TypedSearchAttributes.fromPayloads(payloads);
  assert.equal(read.get(customer), "ada");
  assert.equal(read.get(amount), 3);
  assert.equal(read.get(paid), false);
  assert.deepEqual(read.get(due), moment);
  assert.deepEqual(read.get(tags), ["a", "b"]);
  assert.deepEqual(read.getAll(), ALL.map(({ key, value }) => ({ key: { ...key }, value })));
  assert.deepEqual(
    toSearchAttributePayloads(read),
    payloads,
    "what was read is written as it came",
  );
  assert.equal(read.get(defineSearchAttributeKey("Other", "INT")), undefined);
  assert.equal(read.has(customer), true);
});

test("the type of untyped values is inferred", () => {
  const payloads = toSearchAttributePayloads({
    a: "x",
    b: 1,
    c: 1.5,
    d: true,
    e: moment,
    f: ["x"],
  });
  assert.deepEqual(
    Object.values(payloads).map((payload) => decodeForComparison(payload)[0]),
    ["Keyword", "Int", "Double", "Bool", "Datetime", "KeywordList"],
  );
});

test("values that do not match their type are rejected by name", () => {
  const wrong = (key: { name: string; type: SearchAttributeType }, value: unknown, words: RegExp) =>
    assert.throws(() => toSearchAttributePayloads([{ key, value }] as never), (error: Error) => {
      assert.ok(error instanceof TypeError);
      assert.match(error.message, new RegExp(`"${key.name}"`));
      assert.match(error.message, words);
      return true;
    });
  wrong(customer, 1, /is not a string/);
  wrong(items, 1.5, /safe integer/);
  wrong(items, 2 ** 60, /is not a safe integer/);
  wrong(amount, NaN, /finite/);
  wrong(paid, "yes", /is not a boolean/);
  wrong(due, new Date(NaN), /valid Date/);
  wrong(due, "2030-01-01", /valid Date/);
  wrong(tags, ["a", 1], /array of strings/);
  assert.throws(
    () => toSearchAttributePayloads({ bad: null } as never),
    /"bad" is not a string, number/,
  );
  assert.throws(
    () => toSearchAttributePayloads([{ key: customer, value: "a" }, { key: customer, value: "b" }]),
    /set twice/,
  );
});

test("a key must have a name and a known type", () => {
  assert.throws(() => defineSearchAttributeKey("", "INT"), /needs the name/);
  assert.throws(() => defineSearchAttributeKey("X", "Keyword" as never), /types are TEXT, KEYWORD/);
});

test("a key with another type than the service's throws; text and keyword are read alike", () => {
  const read = TypedSearchAttributes.fromPayloads(toSearchAttributePayloads(ALL));
  assert.throws(
    () => read.get(defineSearchAttributeKey("Customer", "INT")),
    /"Customer" is of type KEYWORD, but was read as INT/,
  );
  assert.equal(read.get(defineSearchAttributeKey("Customer", "TEXT")), "ada");
  assert.equal(read.get(defineSearchAttributeKey("Items", "DOUBLE")), 7);
});

test("a list with one keyword may arrive as a keyword; unreadable and null values are omitted", () => {
  const bytes = new TextEncoder();
  const payload = (data: string, encoding = "json/plain") => ({
    metadata: { encoding: bytes.encode(encoding) },
    data: bytes.encode(data),
  });
  const read = TypedSearchAttributes.fromPayloads({
    Tags: payload('"one"'),
    Gone: payload("null"),
    Strange: payload("??", "binary/strange"),
  });
  assert.deepEqual(read.get(tags), ["one"]);
  assert.deepEqual(read.toJSON(), { Tags: "one" });
  assert.deepEqual(read.getAll(), [], "without a known type");
});
