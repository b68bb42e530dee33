// Frames of one kind have one name, in every engine and both kinds of programs: `run`, the
// function's name, or no name if it has none (the name of its fiber is shown instead: `handler of
// add`). Never an engine's description of the call: "Object.eval [as fn]".
import { openSession } from "../../ts/debug/mod.ts";
import { deepEqual, equal, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { API, type RealmHarness, withRealm } from "./realm_host.ts";

const NATIVE = `${API}
const add = update("add"), done = signal("done");
async function helper() {
  await sleep(5);
}
const pause = async () => {
  await sleep(6);
};
export const cart = workflow("Main", {
  async run(owner) {
    await helper();
    await pause();
    const items = await receive([], [
      on(add, async ([item], items) => {
        await sleep(7);
        return reply(items.length, [...items, item]);
      }),
      on(done, (_, items) => stop(items)),
    ]);
    await parallel([
      () => sleep(8),
      async () => {
        await sleep(9);
      },
      async function named() {
        await sleep(10);
      },
    ]);
    return items;
  },
});`;

const TEMPORAL = `import * as wf from "@temporalio/workflow";
const add = wf.defineUpdate("add"), done = wf.defineSignal("done");
async function helper() {
  await wf.sleep(5);
}
const pause = async () => {
  await wf.sleep(6);
};
export async function Main(owner) {
  let isDone = false;
  wf.setHandler(add, async (item) => {
    await wf.sleep(7);
    return item;
  });
  wf.setHandler(done, () => { isDone = true; });
  await helper();
  await pause();
  await wf.condition(() => isDone);
  await Promise.all([wf.sleep(8), (async () => { await wf.sleep(9); })()]);
}`;

/** A run with one update and one signal, whose timers fire one after the other. */
async function history(h: RealmHarness): Promise<Uint8Array> {
  const run = h.start("Main", { args: ["ada"] });
  const fireAll = async () => {
    while (run.server.closed === undefined && run.server.timers.size > 0) {
      run.server.fireTimer([...run.server.timers.keys()][0]!);
      await run.task();
      equal(run.failure, "");
    }
  };
  await run.task();
  await fireAll();
  run.server.update("u1", "add", "book");
  await run.task();
  await fireAll();
  run.server.signal("done");
  await run.task();
  await fireAll();
  ok(run.server.closed !== undefined, "the run ends");
  return run.server.history();
}

/**
 * The line of a place as people read it, with its function: "helper 4", or "16" where it has no
 * name.
 */
function shortOf(site: string): string {
  const [, name = "", line] = /^(?:(?:async )?([\w$.]+) \()?[^\s()]+?:(\d+):\d+\)?$/.exec(site) ??
    [];
  if (line === undefined) throw new Error(`unknown form of a frame: ${site}`);
  return `${name} ${line}`.trim();
}

/**
 * Of a replay: each call site of a command or an await by its function and line, and the names of
 * fibers.
 */
async function names(
  h: RealmHarness,
): Promise<{ readonly sites: readonly string[]; readonly fibers: readonly string[] }> {
  const session = await openSession(await history(h), { realm: h.realm });
  equal(session.problem, undefined);
  const sites = new Set<string>();
  for (let position = 1; position <= session.length; position++) {
    const { open, commands } = session.viewAt(position);
    for (const { site } of [...open, ...commands]) if (site !== "") sites.add(shortOf(site));
  }
  return { sites: [...sites], fibers: session.code?.fibers.map(({ name }) => name) ?? [] };
}

const lineIn = (text: string, part: string): number =>
  text.slice(0, text.indexOf(part)).split("\n").length;

export const cases: Case[] = [
  {
    name: "frames of a native run: run, a function's own name, and none where it has none",
    run: () =>
      withRealm(NATIVE, async (h) => {
        const { sites, fibers } = await names(h);
        const at = (text: string) => lineIn(NATIVE, text);
        deepEqual(sites, [
          `helper ${at("sleep(5)")}`,
          `pause ${at("sleep(6)")}`,
          `run ${at("receive([]")}`,
          `${at("sleep(7)")}`,
          `run ${at("parallel([")}`,
          `${at("sleep(8)")}`,
          `${at("sleep(9)")}`,
          `named ${at("sleep(10)")}`,
        ]);
        deepEqual(fibers, [
          "run",
          "handler of add",
          "handler of done",
          "branch 1",
          "branch 2",
          "branch 3",
        ]);
      }, { lines: true }),
  },
  {
    name: "frames of a program for Temporal: the same names",
    run: () =>
      withRealm("", async (h) => {
        const { sites, fibers } = await names(h);
        const at = (text: string) => lineIn(TEMPORAL, text);
        deepEqual(sites, [
          `helper ${at("sleep(5)")}`,
          `pause ${at("sleep(6)")}`,
          `Main ${at("wf.condition")}`,
          `${at("sleep(7)")}`,
          `Main ${at("sleep(8)")}`,
          `${at("sleep(9)")}`,
        ]);
        deepEqual(fibers, ["run", "handler of add", "handler of done"]);
      }, {
        workflows: "/app/main.ts",
        sources: { "/app/main.ts": TEMPORAL },
        scopes: "rewritten",
        lines: true,
      }),
  },
];
