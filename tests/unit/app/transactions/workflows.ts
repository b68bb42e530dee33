// Workflows of the tests of application transactions.
import {
  procedure,
  procedures,
  reducers,
  signal,
  signature,
  sleep,
  startChild,
  subscribe,
  transact,
  waitForSignal,
  workflow,
} from "../../../../ts/workflow/mod.ts";

const game = reducers<typeof import("./reducers.ts")>();
export const said = signal<[line: string]>("said");

/** Collects lines until "end". */
export const listener = workflow("Listener", async () => {
  const lines: string[] = [];
  for (;;) {
    const line = await waitForSignal(said);
    if (line === "end") return lines;
    lines.push(line);
  }
});

/** Collects the broadcast lines of one place until "end". */
export const hears = workflow("Hears", async (place: string) => {
  subscribe(said, place);
  const lines: string[] = [];
  for (;;) {
    const line = await waitForSignal(said);
    if (line === "end") return lines;
    lines.push(line);
  }
});

export const questions = procedures({ ask: signature<[n: number], string>() });
/** Asks twice. */
export const asks = workflow("Asks", async () => {
  const first = await procedure(questions.ask, [1]);
  const second = await procedure(questions.ask, [2]);
  return `${first} ${second}`;
});

/** Its reducers send to another workflow. */
export const sends = workflow("Sends", async (to: string) => {
  await transact(game.startAndSay, to, "first");
  transact(game.say, to, "second");
  const failed = await transact(game.sayAndThrow, to, "never").then(
    () => "nothing",
    (e: Error) => e.message,
  );
  const unknown = await transact(game.say, "missing", "x").then(
    () => "nothing",
    (e: Error) => (e as { type?: string }).type,
  );
  transact(game.say, to, "end");
  await sleep(1);
  return [failed, unknown];
});

/** The child that its task starts has the id that its reducer starts, for two attempts. */
export const collides = workflow("Collides", async (id: string) => {
  transact(game.startFirst, id);
  const child = await startChild(listener, { id, parentClosePolicy: "ABANDON" });
  await child.signal(said, "end");
  return await child.result();
});

/** Its child gets the reducer's signal after the task has started it. */
export const orders = workflow("Orders", async (id: string) => {
  const child = await startChild(listener, { id });
  const sent = child.signal(said, "by command");
  transact(game.say, id, "by reducer");
  transact(game.say, id, "end");
  await sent;
  return await child.result();
});
