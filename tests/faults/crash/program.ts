// The workflow of the crash loop: activities with sleeps between them, then a mailbox that takes
// signals and updates until it has the wanted number of each, then activities again. If the plan
// has a child, it runs all the while, is signaled at the beginning and at the end, and returns what
// it got. The result names everything that happened, in order.
import {
  activities,
  noreply,
  on,
  receive,
  reply,
  signal,
  sleep,
  startChild,
  stop,
  update,
  workflow,
  workflowInfo,
} from "temporalex/workflow";

export interface Plan {
  readonly steps: number;
  readonly signals: number;
  readonly updates: number;
  /** With a child. */
  readonly helped?: boolean;
}
export interface Mail {
  readonly signals: readonly string[];
  readonly updates: readonly string[];
}
export interface Outcome extends Mail {
  readonly steps: readonly number[];
  readonly helped?: readonly string[];
}

export const post = signal<[value: string]>("post");
export const deliver = update<[value: string], string>("deliver");

const work = activities<{ step(n: number): Promise<number> }>({
  startToClose: "20s",
  retry: { initialInterval: "10ms", maximumInterval: "100ms" },
});

/** Ids of helpers end like this. */
export const HELPER = "-helper";

export const helper = workflow("CrashHelper", {
  messages: { post },
  async run(): Promise<readonly string[]> {
    const none: readonly string[] = [];
    const got = await receive(none, [
      on(
        post,
        ([value], got) => got.length === 1 ? stop([...got, value]) : noreply([...got, value]),
      ),
    ]);
    await sleep(2);
    return got;
  },
});

export const crash = workflow("Crash", {
  messages: { post, deliver },
  async run(plan: Plan): Promise<Outcome> {
    const { workflowId } = workflowInfo();
    const child = plan.helped === true
      ? await startChild(helper, { id: workflowId + HELPER })
      : undefined;
    await child?.signal(post, `${workflowId}-first`);
    const steps: number[] = [];
    const go = async (count: number) => {
      for (let i = 0; i < count; i++) {
        steps.push(await work.step(steps.length + 1));
        if (steps.length % 2 === 0) await sleep(3);
      }
    };
    await go(plan.steps);
    const full = (mail: Mail) =>
      mail.signals.length >= plan.signals && mail.updates.length >= plan.updates;
    const none: Mail = { signals: [], updates: [] };
    const mail = full(none) ? none : await receive(none, [
      on(post, ([value], mail) => {
        const next = { ...mail, signals: [...mail.signals, value] };
        return full(next) ? stop(next) : noreply(next);
      }),
      on(deliver, ([value], mail) => {
        const next = { ...mail, updates: [...mail.updates, value] };
        return full(next) ? stop(next, `took ${value}`) : reply(`took ${value}`, next);
      }),
    ]);
    await go(plan.steps);
    if (child === undefined) return { steps, ...mail };
    await child.signal(post, `${workflowId}-second`);
    return { steps, ...mail, helped: await child.result() };
  },
});
