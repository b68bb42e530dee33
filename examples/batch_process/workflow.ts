// Fan-out with parallel: all items at once, every branch to its end, one result for the whole
// batch.
import { activities, ApplicationFailure, parallel, workflow } from "temporalex/workflow";

const processor = activities<typeof import("./activities.ts")>({
  startToClose: "1m",
  retry: { maximumAttempts: 3 },
});

export const batchProcess = workflow(
  "BatchProcess",
  async ({ items }: { readonly items: readonly string[] }) => {
    const results = await parallel(items.map((item) => () => processor.process(item)));

    const failures = results.filter((result) => !result.ok).length;
    if (failures > 0) {
      throw new ApplicationFailure(`${failures} of ${items.length} items failed`, {
        type: "BatchFailed",
        details: [{ failures }],
      });
    }
    return { processed: results.length };
  },
);
