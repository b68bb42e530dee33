// An entity: a workflow per account that processes its messages one at a time and never ends by itself.
import {
  allHandlersFinished,
  ApplicationFailure,
  condition,
  continueAsNew,
  defineSignal,
  defineUpdate,
  setHandler,
} from "@temporalio/workflow";

export const deposit = defineUpdate<number, [amount: number]>("deposit");
export const withdraw = defineUpdate<number, [amount: number]>("withdraw");
export const closeAccount = defineSignal("closeAccount");

const MESSAGES_PER_RUN = 3;

export async function account(balance: number): Promise<number> {
  let left = MESSAGES_PER_RUN;
  let isClosed = false;
  const add = (amount: number) => {
    left--;
    return balance += amount;
  };
  setHandler(deposit, (amount) => add(amount));
  setHandler(withdraw, (amount) => add(-amount), {
    validator: (amount) => {
      if (amount <= balance) return;
      throw ApplicationFailure.create({ message: `the balance is ${balance}`, type: "Overdrawn" });
    },
  });
  setHandler(closeAccount, () => {
    isClosed = true;
  });
  await condition(() => (isClosed || left <= 0) && allHandlersFinished());
  return isClosed ? balance : await continueAsNew<typeof account>(balance);
}
