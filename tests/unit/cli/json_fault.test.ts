// Where a text stops being JSON: found without the engine's words, and without a piece of the text.
import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonFault } from "../../../ts/history_files/json_fault.ts";
import { readHistoryFile } from "../../../ts/history_files/history_file.ts";

const GOOD =
  '{"events": [{"eventId": 1, "a": ["x\\u00e9\\"", -1.5e3, true, null, {}, []]}, {"eventId": 2}],\n "more": {"deep": [1, {"b": "4111"}]}}';

test("a JSON error names the position and the value", () => {
  for (
    const [text, expected] of [
      [
        '{"events": [{"eventId": 1}, {"eventTy',
        "it ends unexpectedly at line 1, in events[1] (the file may be truncated)",
      ],
      [
        '{"events": [{"eventId": 1},\n {"a": {"data": "41',
        "it ends unexpectedly at line 2, in events[1].a.data (the file may be truncated)",
      ],
      ["[1, 2", "it ends unexpectedly at line 1, in [1] (the file may be truncated)"],
      ["{", "it ends unexpectedly at line 1 (the file may be truncated)"],
      [
        '{"events": [{"eventId": 1,}]}',
        "unexpected character, in events[0].eventId (line 1, column 27)",
      ],
      ['{"a": 1\n "b": 2}', "unexpected character, in a (line 2, column 2)"],
      ['{"a": tru}', "unexpected character, in a (line 1, column 7)"],
      ['{"a": "x\ty"}', "unexpected character, in a (line 1, column 9)"],
      ['{"a": "\\x"}', "unexpected character, in a (line 1, column 8)"],
      ["{} {}", "unexpected character (line 1, column 4)"],
      ["[01]", "unexpected character, in [0] (line 1, column 3)"],
    ] as const
  ) {
    assert.throws(() => JSON.parse(text));
    assert.equal(jsonFault(text), expected, text);
  }
});

test("every truncation and every inserted character is reported at or before its position", () => {
  const isJson = (text: string) => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  assert.ok(isJson(GOOD));
  for (let i = 1; i < GOOD.length; i++) {
    if (GOOD.slice(0, i).trim() !== "") {
      assert.match(jsonFault(GOOD.slice(0, i)), /^it ends unexpectedly|^unexpected character/);
    }
    const broken = `${GOOD.slice(0, i)}\u0001${GOOD.slice(i)}`;
    assert.ok(!isJson(broken));
    const [, line, column] = /\(line (\d+), column (\d+)\)$/.exec(jsonFault(broken))!;
    const before = GOOD.slice(0, i).split("\n");
    // A number or a word that is cut by it ends where it begins.
    assert.ok(
      Number(line) === before.length && Number(column) <= before.at(-1)!.length + 1,
      `${i}: ${jsonFault(broken)}`,
    );
  }
});

test("errors do not quote the content of a broken file", async () => {
  const file = new TextEncoder().encode('{"events": [{"eventId": 1, "input": "4111-1111" x}]}');
  await assert.rejects(readHistoryFile(file), {
    message:
      "the file is not valid JSON: unexpected character, in events[0].input (line 1, column 49)",
  });
});
