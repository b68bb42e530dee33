// A till whose handlers call local activities, several of them alike (local_keys_loop.ts). `number`
// names the message; the limit of a call names it for the judge, because limits are not part of an
// idempotency key.
import {
  localActivities,
  noreply,
  on,
  receive,
  reply,
  signal,
  update,
  workflow,
} from "../../../ts/workflow/mod.ts";
import type { LocalKeyActivities } from "./local_keys_names.ts";
import { limitOf } from "./local_keys_names.ts";

const near = localActivities<LocalKeyActivities>();
const pay = update<[customer: string, number: number], number>("pay");
const remind = signal<[customer: string, number: number]>("remind");

async function charge(customer: string, number: number): Promise<void> {
  await near.charge.with({ startToClose: limitOf(number, 0) })(customer);
  for (const call of [1, 2]) await near.tick.with({ startToClose: limitOf(number, call) })();
}

export const till = workflow("NativeTill", async () => {
  await receive(0, [
    on(pay, async ([customer, number], sum) => {
      await charge(customer, number);
      return reply(number, sum + 1);
    }),
    on(remind, async ([customer, number], sum) => {
      await charge(customer, number);
      return noreply(sum);
    }),
  ]);
});
