// The story of a run: what happened, in at most five sentences.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { openRun } from "../../../ts/debug/mod.ts";
import { tellStory } from "../../../ts/run_view/story.ts";

const SAMPLES = "web-demo/samples";
const textsOf = async (bytes: Uint8Array): Promise<readonly string[]> =>
  tellStory(await openRun(bytes)).map(({ text }) => text);

test("the story of a failed run has its steps, the failure chain and the longest step", async () => {
  const at = (second: number) => new Date(Date.UTC(2026, 10, 3, 9, 0, second)).toISOString();
  const cause = { message: "no seats", applicationFailureInfo: { type: "NoSeatsError" } };
  const failure = { message: "booking failed", cause };
  const events = [
    ["WORKFLOW_EXECUTION_STARTED", { workflowType: { name: "Trip" } }, 0],
    ["ACTIVITY_TASK_SCHEDULED", { activityId: "1", activityType: { name: "pay" } }, 1],
    ["ACTIVITY_TASK_STARTED", { scheduledEventId: "2", attempt: 3 }, 2],
    ["ACTIVITY_TASK_COMPLETED", { scheduledEventId: "2", startedEventId: "3" }, 9],
    ["WORKFLOW_EXECUTION_FAILED", { failure }, 10],
  ].map(([type, attributes, second], i) => ({
    eventId: String(i + 1),
    eventTime: at(second as number),
    eventType: `EVENT_TYPE_${type}`,
    [
      `${
        (type as string).toLowerCase().replace(/_([a-z])/g, (_, letter: string) =>
          letter.toUpperCase())
      }EventAttributes`
    ]: attributes,
  }));
  assert.deepEqual(await textsOf(new TextEncoder().encode(JSON.stringify({ events }))), [
    "**Trip** ended after **10 s**: 1 activity.",
    "The run **failed** with booking failed, caused by **NoSeatsError**: no seats.",
    "**7 s** of 10 s passed in activity **pay**.",
    "Activity **pay** completed at attempt **3**.",
  ]);
});

test("the story of each sample has at most five sentences and begins with the run", async () => {
  for (const name of readdirSync(SAMPLES).filter((name) => name.endsWith(".json"))) {
    const story = await textsOf(readFileSync(`${SAMPLES}/${name}`));
    assert.match(story[0]!, /^\*\*\w+\*\* (?:completed|ended|continued as new|is open)/, name);
    const sentences = story.flatMap((text) => text.split(/[.!?] (?=[A-Z*])/));
    assert.ok(sentences.length <= 5, `${name}: ${story.join(" ")}`);
  }
});
