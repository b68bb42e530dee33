// An idempotent start: the workflow id is derived from the input, so a repeated message starts nothing.
import { activities, sleep, workflow } from "temporalex/workflow";

const ledger = activities<typeof import("./activities.ts")>({ startToClose: "10s" });

export interface Payment {
  readonly number: number;
  readonly cents: number;
}

export const pay = workflow("pay", {
  id: ({ number }: Payment) => `payment-${number}`,
  async run({ number, cents }: Payment) {
    await sleep("1h"); // until it can no longer be withdrawn
    return await ledger.bookPayment(`payment-${number}`, cents);
  },
});
