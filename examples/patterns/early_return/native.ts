// An early return: an update that is sent with the start completes after the first step, and the
// workflow continues with the slow ones.
import {
  activities,
  isCancellation,
  on,
  receive,
  sleep,
  stop,
  update,
  workflow,
} from "temporalex/workflow";

const bank = activities<typeof import("./activities.ts")>({ startToClose: "10s" });
export const authorized = update<[], string>("authorized");

export const payment = workflow("payment", {
  messages: { authorized },
  async run(account: string, cents: number) {
    const { state: code } = await receive("", [
      on(authorized, async () => {
        try {
          const code = await bank.authorize(account, cents);
          return stop(code, code);
        } catch (error) {
          if (isCancellation(error)) throw error;
          return stop("", "declined");
        }
      }),
    ], { timeout: "1 minute" });
    if (code === "") return "not paid";
    await sleep("1 day"); // until the bank clears
    await bank.settle(code);
    return "paid";
  },
});
