// What is under way when a worker or the server is killed: activities one after the other and side
// by side, timers, updates, side effects.
import {
  activities,
  on,
  parallel,
  receive,
  reply,
  sideEffect,
  signal,
  sleep,
  stop,
  update,
  workflow,
} from "temporalex/workflow";

export const ask = update<[number], number>("ask");
export const close = signal("close");

const acts = activities<{ pay(input: string): Promise<string> }>({
  startToClose: "2s",
  retry: { initialInterval: 50, maximumInterval: 500 },
});

export const saga = workflow("Saga", async (name: string, steps: number) => {
  const id = sideEffect(() => Math.random());
  const paid: string[] = [];
  for (let i = 0; i < steps; i++) {
    paid.push(await acts.pay(`${name}-${i}`));
    await sleep(10);
    const pair = await parallel([
      () => acts.pay(`${name}-${i}-left`),
      () => acts.pay(`${name}-${i}-right`),
    ]);
    for (const one of pair) if (one.ok) paid.push(one.value);
  }
  const asked = await receive(0, [
    on(ask, ([n], s) => reply(s + n, s + n)),
    on(close, (_, s) => stop(s)),
  ]);
  return { paid, asked, id };
});
