// What the workflows beside this file call.
import { activityInfo, heartbeat, sleep } from "../../../ts/activity/mod.ts";

/** What ran here, in order: `step:input`. */
export const ran: string[] = [];

export function step(input: string): string {
  ran.push(`step:${input}`);
  return `${input} done`;
}

export function flaky(): number {
  const { attempt } = activityInfo();
  if (attempt < 3) throw new Error(`attempt ${attempt} fails`);
  return attempt;
}

/** Beats until it is told to stop. */
export async function beats(): Promise<never> {
  for (;;) {
    heartbeat("alive");
    await sleep(20);
  }
}
