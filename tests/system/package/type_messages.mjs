// Compares TypeScript's errors for projects/types/messages/messages.ts with the comments next to
// its lines.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** `says`: what each line's message has, by line number. */
export function expectedMessages(text) {
  const says = new Map();
  text.split("\n").forEach((line, i) => {
    const [, part] = /\/\/ says: (.*)$/.exec(line) ?? [];
    if (part !== undefined) says.set(i + 1, part);
  });
  return says;
}

/**
 * The messages of tsc by line number: the first line of each, and those that are indented below it.
 */
export function messagesByLine(output) {
  const messages = new Map();
  let line = 0;
  for (const text of output.split("\n")) {
    const [, at, first] = /messages\.ts\((\d+),\d+\): error TS\d+: (.*)$/.exec(text) ?? [];
    if (at !== undefined) {
      line = Number(at);
      messages.set(line, `${messages.get(line) ?? ""}${first}\n`);
    } else if (/^\s/.test(text)) {
      messages.set(line, `${messages.get(line) ?? ""}${text}\n`);
    } else line = 0;
  }
  return messages;
}

/** Every wrong line has the message that it should have, and no other line has one. */
export async function checkMessages({ run }, tsc, types, compilerOptions) {
  const expected = expectedMessages(
    readFileSync(join(types, "messages/messages.ts"), "utf8"),
  );
  assert.ok(expected.size > 15, "the file of wrong calls was not read");
  const config = join(types, "messages/tsconfig.json");
  writeFileSync(
    config,
    JSON.stringify({ compilerOptions, include: ["messages.ts"] }),
  );
  const { output } = await run(tsc, ["-p", config], { cwd: types });
  const said = messagesByLine(output);
  assert.deepEqual(
    [...said.keys()].sort((a, b) => a - b),
    [...expected.keys()],
    output,
  );
  for (const [line, part] of expected) {
    const message = said.get(line);
    assert.ok(
      message.includes(part),
      `line ${line}: "${part}" was expected, and TypeScript says\n${message}`,
    );
  }
}
