// An early return: an update that is sent with the start completes after the first step, and the
// workflow continues with the slow ones.
import {
  allHandlersFinished,
  condition,
  defineUpdate,
  isCancellation,
  proxyActivities,
  setHandler,
  sleep,
} from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const bank = proxyActivities<typeof activities>({ startToCloseTimeout: "10s" });
export const authorized = defineUpdate<string>("authorized");

export async function payment(account: string, cents: number): Promise<string> {
  let code: string | undefined;
  let asked: Promise<string> | undefined;
  const authorize = async () => {
    try {
      code = await bank.authorize(account, cents);
    } catch (error) {
      if (isCancellation(error)) throw error;
      code = "";
    }
    return code === "" ? "declined" : code;
  };
  setHandler(authorized, () => asked ??= authorize()); // once, also for concurrent updates

  await condition(() => asked !== undefined, "1 minute");
  if (asked !== undefined) await condition(() => code !== undefined);
  await condition(allHandlersFinished);
  if (code === undefined || code === "") return "not paid";
  await sleep("1 day"); // until the bank clears
  await bank.settle(code);
  return "paid";
}
