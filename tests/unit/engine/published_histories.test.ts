// Published histories of Temporal's own projects, of many servers and SDKs: each that is closed
// comes into a store, is sound there, in a backup and in another import, and goes out again byte
// for byte.
// takes: 5 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { judgeFile } from "./support/history_files.ts";

const fixtures = "../shared/fixtures/histories";
const skip = existsSync(`${fixtures}/index.json`)
  ? false
  : "the folder of published histories is not next to this checkout";

test("published histories are imported, checked, copied and exported without damage reports", {
  skip,
}, async () => {
  const { entries } = JSON.parse(readFileSync(`${fixtures}/index.json`, "utf8")) as {
    entries: { file: string }[];
  };
  const counts: { [what: string]: number } = {};
  for (const { file } of entries) {
    const folder = mkdtempSync(join(tmpdir(), "temporalex-published-"));
    try {
      const { what, alarms } = await judgeFile(
        new Uint8Array(readFileSync(`${fixtures}/${file}`)),
        folder,
      );
      assert.deepEqual(alarms, [], file);
      counts[what] = (counts[what] ?? 0) + 1;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  assert.equal(counts["no history"], undefined);
  assert.ok(counts["imported"]! >= 65, JSON.stringify(counts));
});
