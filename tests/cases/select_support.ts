// What the cases of select share.
import { EventType } from "../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import { activities, on, select, signal, timer, update, workflow } from "../../ts/workflow/mod.ts";
import { equal } from "./assert.ts";
import { type Drive, drive, type DriveOptions } from "./driver.ts";

export const acts = activities<{ work(x: number): number; undo(): void }>();
export const waiting = activities<{ work(x: number): number }>({
  cancellationType: "waitCancellationCompleted",
});
export const a = signal<[number]>("a");
export const b = signal<[number]>("b");
export const end = signal("end");
export const ask = update<[number], number>("ask");
export const describeError = (e: unknown) => `${(e as Error).name}: ${(e as Error).message}`;

export async function task(d: Drive): Promise<string[]> {
  await d.task();
  equal(d.server.taskFailure, undefined, d.server.taskFailure?.failure.message);
  return d.commands();
}

/** Starts the workflow, applies events in separate tasks, and returns the result. */
export async function led(
  definition: Parameters<typeof drive>[0],
  tasks: ((d: Drive) => void)[],
  options: DriveOptions = {},
) {
  const d = await drive(definition, options);
  for (const happens of [() => {}, ...tasks]) {
    happens(d);
    await task(d);
  }
  return await d.finish();
}

/** Each stack gives 60 seconds again: the timer is made inside. */
export const refreshing = workflow("Refreshing", async () => {
  let stacks = 1;
  for (let on_ = true; on_;) {
    on_ = await select([
      timer("expire", "60s", () => false),
      on(end, () => false),
      on(a, ([n]) => {
        stacks += n;
        return true;
      }),
    ]);
  }
  return stacks;
});

/**
 * How many timers are in the history: those that were cancelled in the task of their start are not.
 */
export function timersStarted(d: Drive): number {
  return d.server.events.filter((event) => event.eventType === EventType.TIMER_STARTED).length;
}
