// The till of local_keys_workflows.ts as a program of `@temporalio/workflow`. Its handlers run at
// the same time.
import {
  condition,
  defineSignal,
  defineUpdate,
  proxyLocalActivities,
  setHandler,
} from "@temporalio/workflow";
import type { LocalKeyActivities } from "./local_keys_names.ts";
import { limitOf } from "./local_keys_names.ts";

async function charge(customer: string, number: number): Promise<void> {
  const near = (call: number) =>
    proxyLocalActivities<LocalKeyActivities>({ startToCloseTimeout: limitOf(number, call) });
  await near(0).charge(customer);
  for (const call of [1, 2]) await near(call).tick();
}

export async function TemporalTill(): Promise<void> {
  setHandler(defineUpdate<number, [string, number]>("pay"), async (customer, number) => {
    await charge(customer, number);
    return number;
  });
  setHandler(defineSignal<[string, number]>("remind"), charge);
  await condition(() => false);
}
