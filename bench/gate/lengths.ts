// Histories of one program that differ in their length, recorded in virtual time.
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { TestEnvironment } from "../../ts/testing/mod.ts";
import type { Recorded } from "./deployment.ts";

/** Events of the first and the last task, without those of steps. */
const FRAME = 5;
/**
 * Events of a step, half of them with a timer: six of an activity and its task, five of a timer and
 * its own.
 */
const PER_STEP = 6 + 5 / 2;

/** Writes the program to a folder, and records a history of about each number of events. */
export async function lengths(
  folder: string,
  events: readonly number[],
): Promise<
  {
    readonly module: string;
    readonly histories: readonly (Recorded & { readonly events: number })[];
  }
> {
  mkdirSync(folder, { recursive: true });
  const module = join(folder, "steps.ts");
  copyFileSync(join(process.cwd(), "bench/gate/steps.ts"), module);
  const env = await TestEnvironment.create();
  try {
    const histories: (Recorded & { events: number })[] = [];
    await env.runWorker({
      workflows: module,
      activities: { book: (order: unknown) => Promise.resolve(order) },
    }, async () => {
      for (const wanted of events) {
        const steps = Math.max(1, Math.round((wanted - FRAME) / PER_STEP));
        const handle = await env.client.start("steps", {
          id: `of-${wanted}`,
          args: ["order", steps],
        });
        await handle.result();
        const { historyLength: events } = await handle.describe();
        histories.push({ name: `of-${wanted}`, events, text: await handle.historyJson() });
      }
    });
    return { module, histories };
  } finally {
    await env.dispose();
  }
}
