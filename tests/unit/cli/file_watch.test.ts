// runtime: node
// Watched files: the first notification of a change is looked at at once, so that a save waits for
// nothing but the file's rest.
import { deepStrictEqual } from "node:assert/strict";
import { mkdtempSync, rmSync, watch as fsWatch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { FileWatch } from "../../../ts/cli/commands/worker/watch.ts";

const REST_MS = 15;

/** Turns of the event loop, in which notifications arrive: timers stand still. */
async function turns(enough: () => boolean): Promise<void> {
  const started = performance.now();
  while (!enough() && performance.now() - started < 20_000) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("a changed file is reported once it is stable, without further delay", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-watch-"));
  const file = join(folder, "workflow.ts");
  writeFileSync(file, "one");
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const told: (readonly string[])[] = [];
  const watch = new FileWatch((paths) => told.push(paths), { restMs: REST_MS, lookMs: 1_000_000 });
  try {
    watch.set(FileWatch.stamps([file]));
    // Notified after the one that is tested.
    let isNotified = false;
    const other = fsWatch(folder, () => (isNotified = true));
    t.after(() => other.close());
    writeFileSync(file, "another text");
    await turns(() => isNotified);
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.tick(REST_MS - 1);
    deepStrictEqual(told, []);
    t.mock.timers.tick(1);
    deepStrictEqual(told, [[file]]);
    // It reports nothing until it gets files again.
    writeFileSync(file, "a third text");
    await new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.tick(1000);
    deepStrictEqual(told.length, 1);
  } finally {
    watch.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
