// Histories that have been replayed are not kept, however many there are.
// process: own (it sets a flag of V8)
// runtime: node
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { replayAll } from "../../../ts/cli/commands/replay/gate.ts";
import type { HistoryFile } from "../../../ts/history_files/history_file.ts";
import type { ReplayVerdict } from "../../../ts/realm/mod.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

test("only the histories being replayed are in memory, not all of thousands", async () => {
  const made: WeakRef<HistoryFile>[] = [];
  const history = (i: number): HistoryFile => {
    const file = {
      bytes: new Uint8Array(10_000),
      events: 1,
      workflowType: "W",
      workflowId: `${i}`,
      runId: "r",
      notes: [],
    };
    made.push(new WeakRef(file));
    return file;
  };
  async function* histories() {
    for (let i = 0; i < 3000; i++) {
      // What a weak reference was made of stays until the end of the turn.
      if (i % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
      const file = history(i);
      yield await Promise.resolve({ file: `${i}`, place: "", bytes: 10_000, read: () => file });
    }
  }
  let lines = 0;
  let alive = 0;
  const verdict = { verdict: "ok", activations: 1, warnings: [] } as unknown as ReplayVerdict;
  await replayAll({ total: undefined, ahead: 2, worthThreads: 1, histories }, {
    realm: { replay: () => Promise.resolve(verdict) },
    threads: 1,
    codec: undefined,
    strict: false,
    signal: new AbortController().signal,
    onGone: () => {},
    onLine: () => {
      if (++lines !== 2900) return;
      collect();
      alive = made.filter((ref) => ref.deref() !== undefined).length;
    },
  });
  assert.equal(lines, 3000);
  assert.ok(alive < 1000, `${alive} of ${made.length} histories are in memory`);
});
