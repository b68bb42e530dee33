// A workflow whose result says in which order its interceptors were called, and what its random
// streams gave.
// deno-lint-ignore-file no-explicit-any
import * as wf from "@temporalio/workflow";
import { calls } from "./calls.ts";
export async function w(who: string) {
  const got: string[] = [];
  wf.setHandler(wf.defineSignal<[string]>("poke"), (what) => {
    got.push(what);
  });
  wf.setHandler(wf.defineUpdate<string, [string]>("ask"), async (what) => {
    await null;
    got.push("ask " + what);
    return what;
  }, { validator: (_: string) => {} });
  await wf.sleep(1000);
  await wf.proxyActivities<any>({ startToCloseTimeout: "1 minute" }).work(who);
  const s = wf.getRandomStream("mine");
  const t = [s.random(), s.uuid4(), Math.random(), s.with(() => Math.random()), wf.uuid4()];
  await wf.condition(() => got.length >= 2);
  return { got, calls: [...calls], numbers: t };
}
