// The user's editor: how it is found, and how it receives a line.
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { editorCommand, findEditor } from "../../../ts/cli/page/open_editor.ts";

async function inFolder(body: (cwd: string) => Promise<void>): Promise<void> {
  const cwd = mkdtempSync(join(tmpdir(), "temporalex-debug-"));
  try {
    await body(cwd);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

test("the editor is detected, and receives the line in its syntax", async () => {
  const at = { path: "/a b/c.ts", line: 7, column: 2 };
  assert.deepEqual(editorCommand("code --wait", at), ["code", "--wait", "-g", "/a b/c.ts:7:2"]);
  assert.deepEqual(editorCommand('"/opt/my editor/subl" -n', at), [
    "/opt/my editor/subl",
    "-n",
    "/a b/c.ts:7:2",
  ]);
  assert.deepEqual(editorCommand("webstorm", at), [
    "webstorm",
    "--line",
    "7",
    "--column",
    "2",
    "/a b/c.ts",
  ]);
  assert.deepEqual(editorCommand("kate", at), ["kate", "/a b/c.ts"]);
  await inFolder((cwd) => {
    writeFileSync(join(cwd, "codium"), "");
    chmodSync(join(cwd, "codium"), 0o755);
    const PATH = ["/nowhere", cwd].join(delimiter);
    if (process.platform !== "win32") assert.equal(findEditor({ PATH }), "codium");
    assert.equal(findEditor({ PATH: "/nowhere" }), undefined);
    assert.equal(findEditor({ PATH: "/nowhere", VISUAL: "vim", EDITOR: "subl -w" }), "subl -w");
    assert.equal(findEditor({ PATH: "/nowhere", EDITOR: "/usr/bin/nano" }), undefined);
    return Promise.resolve();
  });
});
