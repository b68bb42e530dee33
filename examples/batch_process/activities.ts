// The activity of the batch example: processes one item. Items named "bad..." cannot be processed.
import { ApplicationFailure } from "temporalex";

export async function process(item: string): Promise<string> {
  if (item.startsWith("bad")) {
    throw new ApplicationFailure(`cannot process ${item}`, { type: "BadItem", nonRetryable: true });
  }
  return item.toUpperCase();
}
