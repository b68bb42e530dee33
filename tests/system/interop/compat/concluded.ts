// Workflows that act when one of their activations ends, each in another way. `seen`: the commands
// that the interceptor got.
// deno-lint-ignore-file no-explicit-any
import * as wf from "@temporalio/workflow";
import { hook } from "./concluded_hook.ts";

const { work, slow } = wf.proxyActivities<any>({ startToCloseTimeout: "1 minute" });
const { local } = wf.proxyLocalActivities<any>({ startToCloseTimeout: "1 minute" });

/** Does something when the first activation is concluded. */
function concluded(act: () => unknown): string[][] {
  const seen: string[][] = [];
  hook.concluded = (times, shown) => {
    if (times > 0) seen.push(shown);
    if (times === 1) void act();
  };
  return seen;
}

export async function inReaction() {
  const got: string[] = [];
  const seen = concluded(() =>
    Promise.resolve().then(() => work("reaction")).then((result: string) => got.push(result))
  );
  await wf.sleep(100);
  got.push("slept");
  await wf.condition(() => got.length === 2);
  return { got, seen };
}

export async function inHook() {
  const got: string[] = [];
  const seen = concluded(() => work("hook").then((result: string) => got.push(result)));
  await wf.sleep(100);
  got.push("slept");
  await wf.condition(() => got.length === 2);
  return { got, seen };
}

export async function inFunction() {
  const got: string[] = [];
  const seen = concluded(async () => {
    await wf.sleep(50);
    got.push(await work("function"));
  });
  await wf.sleep(100);
  await wf.condition(() => got.length === 1);
  return { got, seen };
}

export async function wakesMain() {
  const woken = new wf.Trigger<void>();
  const seen = concluded(() => woken.resolve());
  const timer = wf.sleep(100);
  await woken;
  const got = [await work("main")];
  await timer;
  return { got, seen };
}

/** Conditions are not looked at before the next activation. */
export async function becomesTrue() {
  let isTrue = false;
  const seen = concluded(() => Promise.resolve().then(() => isTrue = true));
  const timer = wf.sleep(100);
  await wf.condition(() => isTrue);
  const got = [await work("condition")];
  await timer;
  return { got, seen };
}

export async function endsMain() {
  const woken = new wf.Trigger<void>();
  const seen = concluded(() => woken.resolve());
  void wf.sleep(100);
  await woken;
  return { got: [], seen };
}

/** The run has no next activation. */
export async function hasEnded() {
  const seen = concluded(() => work("never"));
  await Promise.resolve();
  return { got: [], seen };
}

export async function eachTime() {
  const got: string[] = [];
  const seen: string[][] = [];
  hook.concluded = (times, shown) => {
    if (times === 0) return;
    seen.push(shown);
    if (times <= 3) work(`of ${times}`).then((result: string) => got.push(result));
  };
  await wf.sleep(100);
  await wf.condition(() => got.length === 3);
  return { got, seen };
}

export async function cancels() {
  const got: string[] = [];
  const noted = (name: string, end: Promise<unknown>) =>
    end.catch((error) => got.push(`${name} ${error.name}`));
  const scope = new wf.CancellationScope();
  const workflowId = `${wf.workflowInfo().workflowId}-child`;
  const all = scope.run(() =>
    Promise.all([
      noted("timer", wf.sleep(60_000)),
      noted("activity", slow()),
      noted("child", wf.executeChild(child, { workflowId })),
    ])
  );
  const seen = concluded(() => Promise.resolve().then(() => scope.cancel()));
  await wf.sleep(300);
  await all;
  return { got, seen: seen.slice(0, 2) };
}

/** Neither the timer nor the activity ever leaves. */
export async function takesBack() {
  const got: string[] = [];
  const seen = concluded(async () => {
    const scope = new wf.CancellationScope();
    const given = scope.run(() => Promise.all([wf.sleep(5000), work("canceled")])).catch((error) =>
      got.push(error.name)
    );
    scope.cancel();
    await given;
  });
  await wf.sleep(100);
  await wf.condition(() => got.length === 1);
  return { got, seen };
}

export async function child(): Promise<void> {
  await wf.sleep(60_000);
}

export async function quickChild(): Promise<string> {
  return await Promise.resolve("child");
}

export async function allKinds() {
  const got: unknown[] = [];
  const { workflowId } = wf.workflowInfo();
  const absent = wf.getExternalWorkflowHandle(`${workflowId}-absent`);
  const seen = concluded(async () => {
    await null;
    wf.upsertMemo({ noted: 1 });
    setTimeout(() => got.push("timeout"), 10);
    got.push(
      ...await Promise.all([
        local("local"),
        wf.executeChild(quickChild, { workflowId: `${workflowId}-quick` }),
        absent.signal("x").catch((error: Error) => error.name),
        absent.cancel().catch((error: Error) => error.name),
      ]),
      "all",
    );
  });
  await wf.sleep(300);
  await wf.condition(() => got.includes("all") && got.includes("timeout"));
  return { got: got.sort(), seen: seen.slice(0, 2) };
}

/** The next activation is of the same task. */
export async function betweenLocals() {
  const got: string[] = [];
  const seen = concluded(() => work("between").then((result: string) => got.push(result)));
  got.push(await local("first"));
  got.push(await local("second"));
  await wf.sleep(300);
  await wf.condition(() => got.length === 3);
  return { got, seen: seen.slice(0, 3) };
}

export async function responds() {
  const got: string[] = [];
  const answer = new wf.Trigger<string>();
  const seen: string[][] = [];
  hook.concluded = (times, shown) => {
    if (times > 0) seen.push(shown);
    if (times !== 2) return;
    void answer.resolve("responded");
    work("message").then((result: string) => got.push(result));
  };
  wf.setHandler(wf.defineUpdate<string, []>("ask"), async () => await answer);
  wf.setHandler(wf.defineQuery<string[]>("got"), () => got);
  wf.setHandler(wf.defineSignal<[], string>("go"), () => void got.push("signal"));
  await wf.condition(() => got.length === 2 && wf.allHandlersFinished());
  return { got, seen };
}

export async function continues(again: boolean): Promise<unknown> {
  const woken = new wf.Trigger<void>();
  const seen = concluded(() => woken.resolve());
  const timer = wf.sleep(50);
  if (!again) {
    await timer;
    return { got: ["continued"], seen };
  }
  await woken;
  return await wf.continueAsNew<typeof continues>(false);
}

/** The task after this one fails. */
export async function throwsLater() {
  const woken = new wf.Trigger<void>();
  concluded(() => woken.resolve());
  void wf.sleep(50);
  await woken;
  throw new TypeError("thrown behind the hook");
}

/** This one does. */
export async function rejects() {
  concluded(() => Promise.reject(new TypeError("not handled")));
  await wf.sleep(50);
}
