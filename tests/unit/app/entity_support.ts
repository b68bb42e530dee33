// Accounts of examples/entity on an embedded engine, with activities that a test can hold up.
import { notifyUser, userAccount } from "../../../examples/entity/workflow.ts";
import * as activities from "../../../examples/entity/activities.ts";
import { getHealth, getState, type Health, type User } from "../../../examples/entity/workflow.ts";
import { accountOf } from "../../../examples/entity/accounts.ts";
import type { Client, WorkflowHandle } from "../../../ts/client/mod.ts";
import type { EngineLimits } from "../../../ts/engine/mod.ts";
import { type Setting, withEngine } from "../../support/services.ts";
import { until } from "../../support/until.ts";

export const definitions = [userAccount, notifyUser];
type Handle = WorkflowHandle<typeof userAccount>;

/** Activities that wait at a gate, by name: `open(name)` lets one attempt pass. */
export class Gates {
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly held = new Set<string>();
  /** What notifications said, in order. */
  readonly notified: string[] = [];
  readonly calls: string[] = [];

  readonly activities = {
    ...Object.fromEntries(
      Object.entries(activities).map(([name, fn]) => [name, async (...args: never[]) => {
        this.calls.push(name);
        if (this.held.has(name)) {
          await new Promise<void>((resolve) =>
            this.#waiting.set(name, [...this.#waiting.get(name) ?? [], resolve])
          );
        }
        const result = await (fn as (...args: never[]) => Promise<unknown>)(...args);
        if (name === "sendNotification") this.notified.push(String(result));
        return result;
      }]),
    ),
  } as unknown as typeof activities;

  /** Waits until an attempt is pending. */
  reached = (name: string) =>
    until(`${name} waits`, () => (this.#waiting.get(name)?.length ?? 0) > 0);

  async open(name: string): Promise<void> {
    await this.reached(name);
    this.#waiting.get(name)!.shift()!();
  }

  /** Lets all pass, now and later. */
  openAll(): void {
    this.held.clear();
    for (const waiting of this.#waiting.values()) waiting.splice(0).forEach((pass) => pass());
  }
}

interface Accounts extends Setting {
  readonly gates: Gates;
}

export function withAccounts(
  limits: EngineLimits,
  body: (accounts: Accounts) => Promise<void>,
): Promise<void> {
  return withEngine("memory", { limits }, async (setting) => {
    const gates = new Gates();
    try {
      await setting.work(
        { workflows: definitions, activities: gates.activities },
        () => body({ ...setting, gates }),
      );
    } finally {
      gates.openAll();
    }
  });
}

export const health = (client: Client, userId: string): Promise<Health> =>
  accountOf(client, userId).query(getHealth);
export const stateOf = (client: Client, userId: string): Promise<User> =>
  accountOf(client, userId).query(getState);

/** The runs of an account, oldest first. */
export async function generations(client: Client, userId: string): Promise<Handle[]> {
  const runs: { runId: string; at: number }[] = [];
  for await (const run of client.list(`WorkflowId = "user-${userId}"`)) {
    runs.push({ runId: run.runId, at: Number(run.startTime) });
  }
  runs.sort((a, b) => a.at - b.at);
  return runs.map(({ runId }) => client.getHandle(userAccount, `user-${userId}`, runId));
}
