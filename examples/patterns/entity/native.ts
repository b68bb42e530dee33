// An entity: a workflow per account that processes its messages one at a time and never ends by itself.
import {
  ApplicationFailure,
  continueAsNew,
  on,
  receive,
  reply,
  signal,
  stop,
  update,
  workflow,
} from "temporalex/workflow";

export const deposit = update<[amount: number], number>("deposit");
export const withdraw = update<[amount: number], number>("withdraw");
export const closeAccount = signal("closeAccount");

const MESSAGES_PER_RUN = 3;

export const account = workflow("account", {
  messages: { deposit, withdraw, closeAccount },
  async run(balance: number) {
    let left = MESSAGES_PER_RUN;
    const next = (total: number) => --left > 0 ? reply(total, total) : stop(total, total);
    const state = await receive(balance, [
      on(deposit, ([amount], total) => next(total + amount)),
      on(withdraw, ([amount], total) => {
        if (amount <= total) return next(total - amount);
        throw new ApplicationFailure(`the balance is ${total}`, { type: "Overdrawn" });
      }),
      on(closeAccount, (_, total) => {
        left = -1;
        return stop(total);
      }),
    ]);
    return left < 0 ? state : continueAsNew(state);
  },
});
