// Activities that run in threads, for activity_threads.test.ts.
import { existsSync, writeFileSync } from "node:fs";
import {
  activityContext,
  activityInfo,
  ApplicationFailure,
  completeAsync,
  heartbeat,
  sleep,
} from "../../../../ts/activity/mod.ts";

export const notAnActivity = 42;

/** Keeps its thread busy without a pause. */
export function spin(ms: number): string {
  const until = Date.now() + ms;
  for (let i = 0; Date.now() < until; i++) if (i % 1_000_000 === 0) heartbeat({ i });
  return `spun as ${activityInfo().activityId}`;
}

/** The same until a file exists; reports that it runs through another file next to it. */
export function spinUntil(file: string): string {
  writeFileSync(`${file}.begun`, "");
  const until = Date.now() + 30_000;
  for (let i = 0; !existsSync(file); i++) {
    if (i % 1000 === 0) heartbeat({ i });
    if (Date.now() > until) throw new Error(`${file} was not made within thirty seconds`);
  }
  return "spun";
}

export function fail(message: string): never {
  throw ApplicationFailure.nonRetryable(message, { type: "Computed", details: [{ a: 1 }] });
}

export async function waitForCancel(): Promise<void> {
  heartbeat("waiting");
  await sleep("1h");
}

/** Why it was cancelled, as its context says before and afterwards. */
export async function tellsWhy(): Promise<string[]> {
  const context = activityContext();
  const before = context.cancelReason ?? "none";
  heartbeat("waiting");
  await sleep("1h").catch(() => {});
  return [before, context.cancelReason ?? "none"];
}

export async function patient(): Promise<never> {
  for (;;) {
    heartbeat("patient");
    await sleep(20);
  }
}

/** Logs and reports what structured clone cannot carry. */
export function tellsOddThings(): string {
  const error = new Error("round");
  error.cause = error;
  const { logger } = activityContext();
  logger.info("a function", { id: 7, done: () => {} });
  logger.info("a circle", { error });
  heartbeat({ toJSON: () => ({ progress: 1 }), done: () => {} });
  return "told";
}

export function odd(): () => void {
  return () => {};
}

export function later(): never {
  activityContext().logger.info("completed from outside", { by: "a test" });
  return completeAsync();
}

export function forever(): void {
  heartbeat("stuck");
  for (let i = 0; i < 1.5e10; i++);
}

export function crash(): Promise<void> {
  setTimeout(() => {
    throw new Error("not caught");
  }, 0);
  return new Promise(() => {});
}

export function badHeartbeat(): string {
  try {
    heartbeat(1n);
    return "no error";
  } catch (error) {
    return (error as Error).name;
  }
}

export async function waits(ms: number): Promise<string> {
  await sleep(ms);
  return `waited ${ms}`;
}

export const add = (a: number, b: number): number => a + b;
