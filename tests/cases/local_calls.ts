// What names the calls of local activities: a workflow task that is lost runs again, perhaps with
// other messages.
import {
  localActivities,
  on,
  parallel,
  receive,
  reply,
  signal,
  spawnAsync,
  stop,
  update,
} from "../../ts/workflow/mod.ts";
import { noreply, workflow } from "../../ts/workflow/mod.ts";
import { nameOfCall } from "../../ts/worker/activities/local_activity.ts";
import type { ScheduleLocalActivity } from "../../ts/core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { deepEqual, equal } from "./assert.ts";
import type { Case } from "./case.ts";
import { type Drive, drive } from "./driver.ts";

interface Acts {
  charge(customer: string): Promise<string>;
  tick(): Promise<string>;
}

const near = localActivities<Acts>();
const pay = update<[customer: string], string>("pay");
const later = update<[customer: string], string>("later");
const remind = signal<[customer: string]>("remind");
const end = update<[], string>("end");

const charged = async (customer: string) => {
  await near.charge(customer).catch(() => {});
  await near.tick().catch(() => {});
  await near.tick().catch(() => {});
};

const till = workflow("Till", async () => {
  await receive(0, [
    on(pay, async ([customer], n) => {
      await charged(customer);
      return reply(customer, n + 1);
    }),
    on(later, ([customer], n) =>
      spawnAsync(async () => {
        await charged(customer);
        return customer;
      }, n)),
    on(remind, async ([customer], n) => {
      await charged(customer);
      return noreply(n);
    }),
    on(end, (_, n) => stop(n, "ended")),
  ]);
  await parallel([() => near.tick().catch(() => {}), () => near.tick().catch(() => {})]);
});

/**
 * Names of the calls, by what one knows of them: type and first argument of the call, and whose it
 * is.
 */
function names(d: Drive): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const call of d.locals.started.filter(({ attempt }) => attempt === 1)) {
    const key = `${call.caller} ${call.activityType}`;
    found.set(key, [...found.get(key) ?? [], nameOfCall(call)]);
  }
  return found;
}

/**
 * Runs tasks until the run is closed: heartbeats ask for a further one, attempts after a back-off
 * for a timer.
 */
async function close(d: Drive): Promise<unknown> {
  for (let i = 0; i < 500 && d.server.closed === undefined; i++) {
    const [timer] = d.server.timers.keys();
    if (timer !== undefined) d.server.fireTimer(timer);
    await d.task();
  }
  return await d.finish();
}

type Message = (d: Drive) => void;
const messages: readonly Message[] = [
  (d) => void d.server.update("u1", "pay", "ada"),
  (d) => void d.server.update("u2", "pay", "bob"),
  (d) => void d.server.update("u3", "pay", "ada"),
  (d) => void d.server.update("u4", "later", "ada"),
];

async function lived(order: readonly number[]): Promise<Map<string, string[]>> {
  const d = await drive(till);
  await d.task();
  for (const i of order) messages[i]!(d);
  d.server.update("u5", "end");
  await close(d);
  return names(d);
}

const call = (fields: Partial<ScheduleLocalActivity>): ScheduleLocalActivity =>
  ({
    caller: "",
    activityType: "charge",
    arguments: [],
    equalCalls: 0,
    ...fields,
  }) as ScheduleLocalActivity;

export const cases: Case[] = [
  {
    name: "a call has the same key whichever messages the task contains, and keys are unique",
    async run() {
      const reference = await lived([0, 1, 2, 3]);
      deepEqual([...reference.keys()].sort(), [
        "update u1 charge",
        "update u1 tick",
        "update u2 charge",
        "update u2 tick",
        "update u3 charge",
        "update u3 tick",
        "update u4 charge",
        "update u4 tick",
        "update u5 tick",
      ]);
      equal(new Set([...reference.values()].flat()).size, 4 * 3 + 2);
      for (const order of [[3, 2, 1, 0], [1], [2, 0], [1, 3, 0]]) {
        for (const [whose, own] of await lived(order)) {
          deepEqual(own, reference.get(whose), `${whose} in ${order}`);
        }
      }
    },
  },
  {
    name: "calls in handlers of signals are named by the signal's event",
    async run() {
      const d = await drive(till);
      for (const customer of ["ada", "ada"]) d.server.signal("remind", customer);
      d.server.update("u5", "end");
      await close(d);
      const own = names(d);
      equal(own.size, 5);
      equal(new Set([...own.values()].flat()).size, 2 * 3 + 2);
      const callers = new Set(
        d.locals.started.map(({ caller }) => caller).filter((caller) =>
          caller.startsWith("signal ")
        ),
      );
      deepEqual([...callers].length, 2);
    },
  },
  {
    name: "every attempt has the key of its call",
    async run() {
      const again = workflow("Again", async () => {
        for (let i = 0; i < 40; i++) await near.charge("ada").catch(() => {});
      });
      const d = await drive(again);
      await close(d);
      const byId = new Map<string, Set<string>>();
      for (const one of d.locals.started) {
        byId.set(one.activityId, (byId.get(one.activityId) ?? new Set()).add(nameOfCall(one)));
      }
      equal(byId.size, 40);
      equal(d.locals.started.length > 40, true, "some were tried again behind a timer");
      for (const [id, own] of byId) equal(own.size, 1, id);
      equal(new Set([...byId.values()].flatMap((own) => [...own])).size, 40);
    },
  },
  {
    name:
      "caller, type, arguments and the count of equal calls change the key; timeouts and ids do not",
    run() {
      const name = nameOfCall(call({}));
      const payload = { metadata: {}, data: new Uint8Array([1]), externalPayloads: [] };
      for (
        const other of [
          { caller: "update u" },
          { activityType: "tick" },
          { arguments: [payload] },
          { equalCalls: 1 },
        ]
      ) {
        equal(nameOfCall(call(other)) === name, false, JSON.stringify(other));
      }
      equal(
        nameOfCall(call({ seq: 7, activityId: "7", startToCloseTimeoutMs: 5, attempt: 3 })),
        name,
      );
      equal(/^[0-9a-f]{40}$/.test(name), true);
    },
  },
];
