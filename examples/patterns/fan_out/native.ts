// Fan-out and fan-in: activities run at the same time, and the workflow combines their results.
import { activities, parallel, workflow } from "temporalex/workflow";

const texts = activities<typeof import("./activities.ts")>({ startToClose: "1m" });

export const countAll = workflow("countAll", async (documents: string[]) => {
  const counts = await parallel(documents.map((document) => () => texts.countWords(document)));
  return {
    words: counts.reduce((sum, count) => count.ok ? sum + count.value : sum, 0),
    failed: documents.filter((_, i) => !counts[i]!.ok),
  };
});
