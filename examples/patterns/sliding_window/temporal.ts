// A sliding window: a fixed number of children run at once, and each that ends starts the next.
import { ApplicationFailure, executeChild, isCancellation, sleep } from "@temporalio/workflow";

export interface Item {
  readonly name: string;
  readonly ms: number;
}

export async function processItem({ name, ms }: Item): Promise<void> {
  await sleep(ms);
  if (name.startsWith("bad")) {
    throw ApplicationFailure.create({ message: `cannot process ${name}` });
  }
}

export async function processAll(
  items: Item[],
  width: number,
): Promise<{ processed: number; failed: string[] }> {
  const failed: string[] = [];
  let next = 0;
  const lane = async () => {
    while (next < items.length) {
      const item = items[next++]!;
      try {
        await executeChild(processItem, { args: [item] });
      } catch (error) {
        if (isCancellation(error)) throw error;
        failed.push(item.name);
      }
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return { processed: items.length - failed.length, failed };
}
