// A workflow that waits in many places at once, for the queries that ask where.
import {
  activities,
  noreply,
  on,
  parallel,
  query,
  receive,
  reply,
  setCurrentDetails,
  shield,
  signal,
  sleep,
  spawnAsync,
  stop,
  update,
  waitForSignal,
  workflow,
} from "../../../../ts/workflow/mod.ts";

export const pay = update<[amount: number], string>("pay", {
  description: "Takes a payment.\nAnswers its receipt.",
});
export const hold = update<[], void>("hold");
export const note = signal<[text: string]>("note", { description: "Writes something down" });
export const finish = signal("finish");
export const approval = signal<[by: string]>("approval");
export const notes = query<number>("notes", { description: "How many notes there are" });

const { charge } = activities<{ charge(amount: number): Promise<string> }>({ startToClose: "1h" });

async function takePayment(amount: number): Promise<string> {
  const receipt = await charge(amount);
  return receipt;
}

/** A fiber that waits two calls deep, after an earlier await. */
async function napTwice(): Promise<void> {
  await sleep("10ms");
  await sleep("1h");
}

export const waiting = workflow("Waiting", {
  messages: { pay, hold, note, finish, approval, notes },
  queries: { notes: (published: number | undefined) => published ?? 0 },
  async run() {
    setCurrentDetails("# Open\nwaits for payments");
    await receive(0, [
      on(note, (_, count) => noreply(count + 1)),
      on(finish, (_, count) => stop(count)),
      on(hold, (_, count) => spawnAsync(() => shield(() => napTwice()), count)),
      on(pay, async ([amount], count) => reply(await takePayment(amount), count)),
    ]);
    setCurrentDetails("closing");
  },
});

export const fans = workflow("Fans", async () => {
  await parallel([
    async function left() {
      await napTwice();
      await waitForSignal(approval);
    },
    async () => {
      await waitForSignal(approval);
    },
    () => napTwice(),
    () => Promise.all([1, 2, 3].map((each) => charge(each))),
  ]);
});
