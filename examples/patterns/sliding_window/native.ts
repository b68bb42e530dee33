// A sliding window: a fixed number of children run at once, and each that ends starts the next.
import {
  ApplicationFailure,
  isCancellation,
  parallel,
  sleep,
  spawn,
  workflow,
} from "temporalex/workflow";

export interface Item {
  readonly name: string;
  readonly ms: number;
}

export const processItem = workflow("processItem", async ({ name, ms }: Item) => {
  await sleep(ms);
  if (name.startsWith("bad")) throw new ApplicationFailure(`cannot process ${name}`);
});

export const processAll = workflow("processAll", async (items: Item[], width: number) => {
  const failed: string[] = [];
  let next = 0;
  const lane = async () => {
    while (next < items.length) {
      const item = items[next++]!;
      try {
        await spawn(processItem, item);
      } catch (error) {
        if (isCancellation(error)) throw error;
        failed.push(item.name);
      }
    }
  };
  await parallel(Array.from({ length: width }, () => lane));
  return { processed: items.length - failed.length, failed };
});
