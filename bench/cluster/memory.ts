// What a cached workflow takes of a worker's memory. The difference of two moments of one process
// is unreliable: V8 keeps tens of megabytes of garbage of a load, more than thousands of workflows
// need. So each amount of workflows has a separate process, the garbage of all its isolates is
// collected before the measurement, and the result is the slope of a line through the amounts, with
// its standard error.
import { setTimeout as delay } from "node:timers/promises";
import { liveHeap } from "./inspector.ts";
import { type Bench, id, type Samples } from "./measures.ts";

/** What was seen at one amount of cached workflows. */
export interface Point {
  readonly workflows: number;
  /** Bytes. */
  readonly resident: number;
  readonly heap: number;
}

/** Amounts of workflows up to the largest one. */
export const amounts = (largest: number): number[] =>
  [0, 1 / 8, 1 / 4, 1 / 2, 1].map((part) => Math.round(largest * part));

/**
 * Puts so many idle workflows into a fresh worker's cache and measures. The worker's cache must be
 * large enough for them.
 */
export async function point(bench: Bench, workflows: number): Promise<Point> {
  const { client, taskQueue, worker, inFlight } = bench;
  // Everything has run before, also where no workflow is to stay.
  for (let i = 0; i < 20; i++) {
    const handle = await client.start("listener", { id: id("passing"), taskQueue, args: [] });
    await handle.signal("finish");
    await handle.result();
  }
  let left = workflows;
  const lane = async () => {
    while (left-- > 0) {
      const handle = await client.start("listener", { id: id("idle"), taskQueue, args: [] });
      while ((await handle.describe()).historyLength < 4) await delay(20);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  await delay(1000);
  const heap = await liveHeap(await worker.inspector());
  // Pages that have become free go back to the system a moment later.
  await delay(1000);
  return { workflows, resident: worker.rss(), heap };
}

/** Least squares: what each workflow more takes, and the standard error of that, in bytes. */
export function slope(
  points: readonly Point[],
  of: "resident" | "heap",
): { perWorkflow: number; error: number } {
  const n = points.length;
  const mean = (value: (point: Point) => number) =>
    points.reduce((sum, point) => sum + value(point), 0) / n;
  const [x, y] = [mean((point) => point.workflows), mean((point) => point[of])];
  const sum = (value: (point: Point) => number) =>
    points.reduce((all, point) => all + value(point), 0);
  const spread = sum((point) => (point.workflows - x) ** 2);
  const perWorkflow = sum((point) => (point.workflows - x) * (point[of] - y)) / spread;
  const left = sum((point) => (point[of] - y - perWorkflow * (point.workflows - x)) ** 2);
  return { perWorkflow, error: Math.sqrt(left / (n - 2) / spread) };
}

/**
 * As samples: the slope, and the slope plus and minus one standard error. Bytes per workflow are
 * kilobytes per 1,000.
 */
export function samplesOf(points: readonly Point[]): Samples {
  const around = (of: "resident" | "heap") => {
    const { perWorkflow, error } = slope(points, of);
    return [perWorkflow - error, perWorkflow, perWorkflow + error].map((bytes) => bytes / 1000);
  };
  return {
    "cached workflow, resident: kB (standard error)": around("resident"),
    "cached workflow, live heap: kB (standard error)": around("heap"),
  };
}
