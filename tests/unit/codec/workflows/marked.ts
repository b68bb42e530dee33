// A native workflow that sends a marked value on every path which workflow code has. It is for the
// plaintext scan.
import {
  activities,
  ApplicationFailure,
  broadcast,
  cancelled,
  continueAsNew,
  executeChild,
  externalWorkflow,
  localActivities,
  noreply,
  on,
  parallel,
  procedure,
  procedures,
  publishState,
  query,
  receive,
  reducers,
  reply,
  setCurrentDetails,
  sideEffect,
  signal,
  signature,
  sleep,
  spawnAsync,
  startChild,
  stop,
  subscribe,
  transact,
  update,
  upsertMemo,
  waitForSignal,
  workflow,
} from "temporalex/workflow";
import { mark, plainmarkFrame } from "../plaintext/words.ts";

interface Acts {
  keep(text: string): string;
  fail(text: string): never;
  outside(text: string): string;
}

export const note = signal<[text: string]>("note");
export const later = signal<[text: string]>("later");
export const spoil = signal<[text: string]>("spoil");
export const finish = signal<[how: "done" | "fail" | "again" | "bug" | "wait"]>("finish");
export const add = update<[text: string], string>("add");
export const refuse = update<[text: string], string>("refuse");
export const break_ = update<[text: string], string>("break");
export const seen = query<string[], [prefix: string]>("seen");
export const broken = query<string>("broken");
export const tell = signal<[text: string]>("tell");
export const game = procedures({ ask: signature<[text: string], string>() });

const retry = { maximumAttempts: 2, initialInterval: "10ms" } as const;
const acts = activities<Acts>({
  startToClose: "20s",
  heartbeat: "10s",
  retry,
  summary: mark("summary of an activity"),
});
const locals = localActivities<Acts>({ startToClose: "20s", retry });
const { greet, reject } = reducers<{
  greet(database: unknown, text: string): string;
  reject(database: unknown, text: string): string;
}>();

const failure = (what: string): never =>
  plainmarkFrame(
    (message, cause) =>
      new ApplicationFailure(message, { type: "Marked", details: [mark(`${what} detail`)], cause }),
    what,
  );

export const child = workflow("MarkedChild", async (text: string) => {
  if (text.endsWith("fail")) failure("child");
  return `${text} and ${await waitForSignal(note)}`;
});

const settled = async (run: () => PromiseLike<unknown>): Promise<string> => {
  try {
    return String(await run());
  } catch (error) {
    return String((error as Error).message);
  }
};

async function everything(first: string, neighbor: string): Promise<string[]> {
  upsertMemo({ kept: mark("memo upserted") });
  setCurrentDetails(mark("current details"));
  subscribe(tell, "filter");
  const results = [sideEffect(() => mark("side effect"))];
  for (
    const run of [
      () => acts.keep(first),
      () => acts.fail(first),
      () => locals.keep(first),
      () => locals.fail(first),
    ]
  ) {
    results.push(await settled(run));
  }
  results.push(
    await settled(() => transact(greet, mark("reducer"))),
    await settled(() => transact(reject, mark("reducer"))),
  );
  const options = {
    memo: { of: mark("memo of a child") },
    summary: mark("summary of a child"),
    details: mark("details of a child"),
  };
  const one = await startChild(child, { args: [mark("child argument")], ...options });
  await one.signal(note, mark("signal to a child"));
  results.push(
    await one.result(),
    await settled(() => executeChild(child, { args: [mark("child fail")] })),
  );
  results.push(
    await settled(() => externalWorkflow(neighbor).signal(note, mark("signal outside"))),
  );
  await broadcast(tell, "filter", mark("broadcast"));
  return results;
}

export const marked = workflow("Marked", {
  messages: { note, later, spoil, finish, add, refuse, break: break_, seen, broken, tell },
  queries: {
    seen: (published: string[], prefix: string) => published.map((text) => `${prefix}${text}`),
    broken: () => failure("query"),
  },
  async run(first: string, neighbor: string, generation: number) {
    publishState([first]);
    const results = generation === 1 ? await everything(first, neighbor) : [];
    publishState(["open", mark("published state")]);
    const [how, texts] = await receive<[string, string[]]>(["done", results], [
      on(note, ([text], [how, texts]) => noreply([how, [...texts, text]])),
      on(tell, ([text], [how, texts]) => noreply([how, [...texts, text]])),
      on(
        add,
        ([text], state) => spawnAsync(async () => `${text} and ${await acts.keep(text)}`, state),
      ),
      on(refuse, ([text], state) => reply(text, state), { validate: () => failure("validator") }),
      on(
        break_,
        ([text], state) =>
          spawnAsync(
            () => settled(() => acts.keep(text)).then(() => failure("update handler")),
            state,
          ),
      ),
      on(spoil, () => failure("signal handler")),
      on(finish, ([how], [, texts]) => stop([how, texts])),
    ]);
    if (how === "fail") failure("workflow");
    if (how === "bug") plainmarkFrame((message, cause) => new Error(message, { cause }), "bug");
    if (how === "again") return continueAsNew(mark("next run"), neighbor, generation + 1);
    if (how !== "wait") return texts;
    try {
      await parallel([
        () => acts.outside(mark("outside 1")),
        () => settled(() => acts.outside(mark("outside 2"))),
        () => settled(() => acts.outside(mark("outside 3"))),
        () =>
          settled(() =>
            procedure(game.ask, [mark("procedure argument")], {
              summary: mark("summary of a procedure"),
            })
          ),
        () => settled(() => procedure(game.ask, [mark("procedure argument")])),
      ]);
      await sleep("1h", { summary: mark("summary of a timer") });
    } catch (error) {
      if (cancelled()) {
        throw Object.assign(error as Error, { details: [mark("cancellation details")] });
      }
      throw error;
    }
    return texts;
  },
});
