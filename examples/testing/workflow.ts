// Tested by the three tests in this folder: a free trial that reminds, waits for a payment method,
// and ends after 30 days.
import {
  activities,
  on,
  publishState,
  query,
  receive,
  stop,
  update,
  workflow,
} from "temporalex/workflow";

export const addCard = update<[card: string], string>("add_card");
export const phase = query<"trial" | "reminded" | "ended">("phase");

const mail = activities<typeof import("./activities.ts")>({
  startToClose: "10s",
  retry: { maximumAttempts: 5 },
});

export const trial = workflow("Trial", {
  messages: { addCard, phase },
  queries: { phase: (published: "trial" | "reminded" | "ended") => published },
  async run(user: string): Promise<"subscribed" | "ended"> {
    const card = on(addCard, ([card]) => stop(undefined, `thanks for ${card}`), {
      validate: ([card]) => {
        if (!/^\d{4}$/.test(card)) throw new Error("a card has four digits");
      },
    });
    publishState("trial");
    if (!(await receive(undefined, [card], { timeout: "25 days" })).timedOut) return "subscribed";
    await mail.remind(user);
    publishState("reminded");
    if (!(await receive(undefined, [card], { timeout: "5 days" })).timedOut) return "subscribed";
    publishState("ended");
    return "ended";
  },
});
