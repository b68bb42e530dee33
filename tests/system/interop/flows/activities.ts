// Activities of the workflows in this folder.
import { activityInfo, heartbeat, sleep } from "../../../../ts/activity/mod.ts";
import { until } from "../../../support/until.ts";

/** What ran here, in order: `step:input`. */
export const ran: string[] = [];

export function step(input: string): string {
  ran.push(`step:${input}`);
  return `${input} done`;
}

/** Names that `held` may end for. */
export const released = new Set<string>();

/** Runs until its name is released. */
export async function held(name: string): Promise<void> {
  ran.push(`held:${name}`);
  await until(`${name} is released`, () => released.has(name));
}

export function flaky(): number {
  const { attempt } = activityInfo();
  if (attempt < 3) throw new Error(`attempt ${attempt} fails`);
  return attempt;
}

/** Sends heartbeats until it is canceled. */
export async function beats(): Promise<never> {
  for (;;) {
    heartbeat("alive");
    await sleep(20);
  }
}
