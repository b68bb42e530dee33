// `temporalex lint` as a command; the rules themselves are tested in tests/unit/realm/lint.test.ts.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { run } from "./support/run.ts";

const SOUND = `import { sleep, workflow } from "temporalex/workflow";
export const a = workflow("A", async () => await sleep(1));
`;
const WRONG = `import { sleep, workflow } from "temporalex/workflow";
export const a = workflow("A", async () => {
  sleep(1);
  await Promise.race([sleep(1)]);
});
`;

async function inFolder(
  files: { readonly [name: string]: string },
  body: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-lint-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("lint: findings have position, rule, reason and advice; exit code 1 only on errors or too many warnings", () =>
  inFolder({ "sound.ts": SOUND, "wrong.ts": WRONG }, async (folder) => {
    const at = { cwd: folder };
    const sound = await run(["lint", "sound.ts"], at);
    assert.equal(sound.code, 0, sound.err);
    assert.equal(sound.out, "nothing found in 1 module\n");
    const wrong = await run(["lint", "wrong.ts"], at);
    assert.equal(wrong.code, 1);
    assert.match(
      wrong.out,
      /^wrong\.ts:3:3: error .*sleep\(\).* \[floating-promise\]\n {4}why: .*\n {4}do: .*\n/,
    );
    assert.match(wrong.out, /1 error, 1 warning in 1 module\n$/);
    const json = await run(["lint", "wrong.ts", "--json"], at);
    assert.equal(json.code, 1);
    const { ok, errors, warnings, findings } = JSON.parse(json.out);
    assert.deepEqual([ok, errors, warnings], [false, 1, 1]);
    const { why: _why, advice: _advice, message: _message, ...first } = findings[0];
    assert.deepEqual(first, {
      rule: "floating-promise",
      severity: "error",
      file: join(folder, "wrong.ts"),
      line: 3,
      column: 3,
    });
    const only = ["lint", "wrong.ts", "--rule", "floating-promise=off"];
    assert.equal((await run(only, at)).code, 0, "warnings alone do not fail");
    assert.equal((await run([...only, "--max-warnings", "0"], at)).code, 1);
    assert.equal((await run([...only, "--max-warnings", "1"], at)).code, 0);
  }));

test("lint: the modules of package.json, and the list of rules", () =>
  inFolder(
    { "w.ts": WRONG, "package.json": '{"temporalex":{"workflows":["./w.ts"]}}' },
    async (folder) => {
      assert.equal((await run(["lint"], { cwd: folder })).code, 1);
      const rules = await run(["lint", "--rules"], { cwd: folder });
      assert.equal(rules.code, 0);
      assert.match(rules.out, /^floating-promise \(error\): /m);
      assert.ok(
        JSON.parse((await run(["lint", "--rules", "--json"], { cwd: folder })).out).length > 20,
      );
    },
  ));

test("lint: without a checked module no success is reported", () =>
  inFolder({ "data.json": "{}" }, async (folder) => {
    const none = await run(["lint", "data.json"], { cwd: folder });
    assert.equal(none.code, 2);
    assert.match(none.err, /data\.json: no module .* nothing was looked at/);
  }));

test("lint: wrong usage", () =>
  inFolder(
    { "w.ts": SOUND },
    async (folder) => {
      for (
        const [args, message] of [
          [["nowhere.ts"], /module not found: .*nowhere\.ts/],
          [["w.ts", "--rule", "nope=off"], /unknown rule "nope"/],
          [["w.ts", "--rule", "outside=loud"], /write outside=off/],
          [["w.ts", "--rule", "builtin-import=off"], /cannot be switched off/],
        ] as const
      ) {
        const { code, err } = await run(["lint", ...args], { cwd: folder });
        assert.equal(code, 2, String(message));
        assert.match(err, message);
      }
    },
  ));
