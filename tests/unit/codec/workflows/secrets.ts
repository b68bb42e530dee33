// A workflow whose every value is a secret: its arguments, actions, state, results and failures.
import {
  activities,
  type ActivityFailure,
  ApplicationFailure,
  continueAsNew,
  noreply,
  on,
  parallel,
  patched,
  publishState,
  query,
  receive,
  reply,
  sideEffect,
  signal,
  spawnAsync,
  stop,
  update,
  workflow,
} from "temporalex/workflow";

export const SECRET = "SECRET";

type How = "done" | "fail" | "again" | "bug";
export const note = signal<[text: string]>("note");
export const later = signal<[text: string]>("later");
export const add = update<[text: string], string>("add");
export const refuse = update<[text: string], string>("refuse");
export const spoil = signal<[text: string]>("spoil");
export const finish = signal<[how: How]>("finish");
export const seen = query<string[], [prefix: string]>("seen");
export const broken = query<string>("broken");

const acts = activities<typeof import("../activities.ts")>({
  startToClose: "20s",
  heartbeat: "10s",
  retry: { maximumAttempts: 2, initialInterval: "10ms" },
});

export const secrets = workflow("Secrets", {
  messages: { note, spoil, later, add, refuse, finish, seen, broken },
  queries: {
    seen: (published: string[], prefix) => published.map((text) => `${prefix}${text}`),
    broken: () => {
      throw new ApplicationFailure(`${SECRET} query failure`);
    },
  },
  async run(first: string, generation: number) {
    publishState([first]);
    patched(`change-${generation}`);
    const side = sideEffect(() => `${SECRET} side effect`);
    const [kept] = await parallel([() => acts.keep(`${first} argument`)]);
    const caught: string[] = [];
    try {
      await acts.fail(`${SECRET} to fail with`);
    } catch (error) {
      const cause = (error as ActivityFailure).cause as ApplicationFailure;
      caught.push(cause.message, String(cause.details[0]));
    }
    publishState(["open"]);
    const [how, texts] = await receive<[How, string[]]>(["done", []], [
      on(note, ([text], [how, texts]) => {
        publishState([...texts, text]);
        return noreply([how, [...texts, text]]);
      }),
      on(
        add,
        ([text], state) => spawnAsync(async () => `${text} and ${await acts.keep(text)}`, state),
      ),
      on(refuse, ([text], state) => reply(text, state), {
        validate: ([text]) => {
          throw new ApplicationFailure(`${text} is refused`, { details: [`${text} detail`] });
        },
      }),
      on(spoil, ([text]) => {
        throw new Error(`${SECRET} handler of ${text}`);
      }),
      on(finish, ([how], [, texts]) => stop([how, texts])),
    ]);
    caught.push(...texts, side);
    if (how === "fail") {
      throw new ApplicationFailure(`${SECRET} workflow failure`, {
        type: "Bad",
        details: [{ of: `${SECRET} details` }],
      });
    }
    if (how === "bug") throw new Error(`${SECRET} bug of ${first}`);
    if (how === "again") return continueAsNew(`${SECRET} second run`, generation + 1);
    return { result: kept.ok ? kept.value : "", caught, generation };
  },
});
