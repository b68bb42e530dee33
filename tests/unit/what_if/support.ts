// A recorded run, a branch of it, and a real run with what the branch changes: both runs on the
// engine of a test environment.
import { fromBinary } from "@bufbuild/protobuf";
import { ApplicationFailure, sleep } from "../../../ts/activity/mod.ts";
import { readHistoryFile } from "../../../ts/debug/mod.ts";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { createWorkerRealm, type WorkerRealm } from "../../../ts/realm/mod.ts";
import { TestEnvironment } from "../../../ts/testing/mod.ts";
import { stepsOf } from "../../../ts/what_if/mod.ts";
import type { Client } from "../../../ts/client/mod.ts";

export const START = Date.UTC(2031, 4, 5, 6);

/** The same modules for all: as sources in this folder, whichever way the tests are run. */
const program = (name: string): string =>
  new URL(`./programs/${name}.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url)
    .href;
export const PROGRAMS = { native: program("native"), compat: program("compat") } as const;
export type Program = keyof typeof PROGRAMS;

export const createProgramRealm = (of: Program): Promise<WorkerRealm> =>
  createWorkerRealm({ workflows: PROGRAMS[of] });

export type Handle = ReturnType<Client["getHandle"]>;

/** What is done to a run: at a moment behind its start, by a client. */
export type Act = readonly [ms: number, (handle: Handle) => Promise<unknown>];

// deno-lint-ignore no-explicit-any
export type Activities = { readonly [name: string]: (...args: any[]) => unknown };

export interface Life {
  readonly of: Program;
  readonly type: string;
  readonly args: readonly unknown[];
  readonly acts: readonly Act[];
  readonly activities?: Activities;
  /** Leave it open, so long behind its start. */
  readonly openAtMs?: number;
}

/** What the shop's activities do when nothing is changed. Each takes a second and a half. */
export const SHOP: Activities = {
  charge: async () => (await sleep(1500), "receipt 7"),
  refund: async (receipt: string) => (await sleep(1500), `back: ${receipt}`),
  ship: async (item: string) => (await sleep(1500), `parcel of ${item}`),
  price: (item: string) => item.length,
};

export const fails = (message: string, nonRetryable: boolean) => async () => {
  await sleep(1500);
  throw nonRetryable
    ? ApplicationFailure.nonRetryable(message, { type: "Error" })
    : new ApplicationFailure(message, { type: "Error" });
};

/** Runs a workflow to its end on the engine, with virtual time; returns its history as bytes. */
export async function live(
  { of, type, args, acts, activities, openAtMs }: Omit<Life, "of"> & { readonly of: Program | URL },
): Promise<Uint8Array> {
  const env = await TestEnvironment.create({
    startTime: START,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  try {
    const all = { ...SHOP, ...activities };
    return await env.runWorker({
      workflows: typeof of === "string" ? PROGRAMS[of] : of,
      activities: all as never,
    }, async () => {
      const handle = await env.client.start(type as never, {
        id: "lived",
        args: args as never,
      }) as unknown as Handle;
      await env.advance(0);
      let now = 0;
      for (const [ms, act] of acts) {
        if (ms > now) await env.advance(ms - now);
        now = Math.max(now, ms);
        await act(handle).catch(() => undefined);
        await env.advance(0);
      }
      if (openAtMs === undefined) {
        await handle.result({ followRuns: false } as never).catch(() => undefined);
      } else if (openAtMs > now) await env.advance(openAtMs - now);
      const first = env.client.getHandle(
        undefined,
        "lived",
        handle.runId as never,
      ) as unknown as Handle;
      return (await readHistoryFile(new TextEncoder().encode(await first.historyJson()))).bytes;
    });
  } finally {
    await env.dispose();
  }
}

/**
 * A history in lines, without what differs between any two runs: ids of runs and of events, and how
 * many tasks there were.
 */
export function formatHistoryLines(history: Uint8Array): string[] {
  return stepsOf(fromBinary(HistorySchema, history).events).map((
    { kind, what, name, text, timeMs },
  ) => `${kind} ${what} ${name} ${text} at ${Math.round((timeMs - START) / 100) / 10} s`);
}

/** The event of a type, the nth (from 1). */
export function eventId(history: Uint8Array, type: string, n = 1): number {
  const found = fromBinary(HistorySchema, history).events.filter(({ attributes }) =>
    attributes.case === `${type}EventAttributes`
  );
  const event = found.at(n - 1);
  if (event === undefined) throw new Error(`the history has ${found.length} of ${type}, not ${n}`);
  return Number(event.eventId);
}

/** It works for longer than any timeout. */
export const hangs = async () => await sleep(3_600_000);
