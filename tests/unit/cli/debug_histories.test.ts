// The files of histories that `temporalex debug` watches.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { historiesOfFiles } from "../../../ts/cli/commands/debug/served_histories.ts";
import { WatchedHistories } from "../../../ts/cli/commands/debug/watched_histories.ts";
import { until } from "../../support/until.ts";

/** The JSON of a history with so many events. */
function history(count: number): string {
  const scheduled = {
    eventType: "EVENT_TYPE_WORKFLOW_TASK_SCHEDULED",
    workflowTaskScheduledEventAttributes: {},
  };
  const first = {
    eventType: "EVENT_TYPE_WORKFLOW_EXECUTION_STARTED",
    workflowExecutionStartedEventAttributes: { workflowType: { name: "Waits" } },
  };
  const events = Array.from(
    { length: count },
    (_, i) => ({ eventId: String(i + 1), ...(i === 0 ? first : scheduled) }),
  );
  return JSON.stringify({ events });
}

test("changed history files are read again; a file that stays unreadable is reported and changes nothing", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "temporalex-histories-"));
  try {
    const lines = (...counts: number[]) => counts.map(history).join("\n");
    mkdirSync(join(cwd, "all"));
    writeFileSync(join(cwd, "all/two.jsonl"), lines(4, 5));
    const { histories, stamps } = await historiesOfFiles(["all"], cwd, undefined);
    const seen: string[] = [];
    const files = new WatchedHistories(histories, {
      changed: (index, { file }) => seen.push(`${index}: ${file.events}`),
      broken: ({ name }) => seen.push(name),
    }, { cwd, codec: undefined, stamps, patienceMs: 1 });
    try {
      writeFileSync(join(cwd, "all/two.jsonl"), lines(4, 11));
      await until("the second line", () => seen[0]);
      writeFileSync(join(cwd, "all/two.jsonl"), "{");
      await until("that it cannot be read", () => seen[1]);
      writeFileSync(join(cwd, "all/two.jsonl"), lines(10, 11));
      await until("the first line", () => seen[2]);
      assert.deepEqual(seen, ["1: 11", histories[0]!.name, "0: 10"]);
    } finally {
      files.close();
    }
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
});
