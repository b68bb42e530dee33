// What a debug session knows of each line of the code: exact at every position, which means what a
// fresh replay of the history up to there gives; with lines as the user wrote them, for programs of
// both kinds and for code that a tool has made.
import { fromBinary, fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { openSession, parseExpression } from "../../ts/debug/mod.ts";
import { HistorySchema } from "../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import type { WorkerRealmOptions } from "../../ts/realm/mod.ts";
import { fileSources } from "../../ts/platform/source_files.ts";
import { readWorkflowTask } from "../../ts/messages/workflow_task.ts";
import { deepEqual, equal, match, ok, throws } from "./assert.ts";
import type { Case } from "./case.ts";
import { describePosition, prefixFor } from "./debug_positions.ts";
import { LocalHost } from "./local_host.ts";
import { API, type RealmHarness, withRealm } from "./realm_host.ts";

/** Set by the Chromium runner, which has no files. */
const browser = globalThis as unknown as { __caseSources?: { [path: string]: string } };

async function readTextFile(path: string): Promise<string> {
  const given = browser.__caseSources?.[path];
  if (given !== undefined) return given;
  const files = fileSources();
  for (const root of ["../../", "../../../"]) {
    const text = files.read(new URL(root + path, import.meta.url).href);
    if (text !== undefined) return text;
  }
  throw new Error(`there is no ${path}`);
}

const TEXT = `${API}
const add = update("add"), done = signal("done");
const publish = (items) => publishState({ count: items.length });
export const cart = workflow("Cart", async (owner) => {
  publish([]);
  const items = await receive([], [
    on(add, ([item], items) => {
      const more = [...items, item];
      publish(more);
      return reply(more.length, more);
    }),
    on(done, (_, items) => stop(items)),
  ]);
  let slept = 0;
  for (let i = 0; i < 3; i++) {
    await sleep(1000);
    slept++;
  }
  await Promise.all([sleep(10), sleep(20)]);
  await parallel([
    () => sleep(1),
    async () => {
      await sleep(2);
      log.info("a branch has slept");
    },
  ]);
  return [owner, items, slept];
});`;

/** Returns the message of what `call` throws. */
function messageOf(call: () => unknown): string {
  try {
    call();
    return "nothing was thrown";
  } catch (e) {
    return (e as Error).message;
  }
}

/** The line (from 1) that contains a text. */
const findLine = (part: string): number => TEXT.slice(0, TEXT.indexOf(part)).split("\n").length;

/** A run of the cart, from its start to its end. */
async function cartHistory(h: RealmHarness): Promise<Uint8Array> {
  const run = h.start("Cart", { args: ["ada"] });
  await run.task();
  run.server.update("u1", "add", "book");
  await run.task();
  run.server.update("u2", "add", "pen");
  await run.task();
  run.server.signal("done");
  await run.task();
  while (run.server.closed === undefined) {
    run.server.fireTimer([...run.server.timers.keys()][0]!);
    await run.task();
    equal(run.failure, "");
  }
  return run.server.history();
}

const OPTIONS: Partial<WorkerRealmOptions> = { lines: true };

/**
 * Every `step`th position equals a fresh replay of the tasks up to there. Returns the number of
 * positions compared.
 */
async function exact(h: RealmHarness, bytes: Uint8Array, step: number): Promise<number> {
  const whole = await openSession(bytes, { realm: h.realm });
  equal(whole.problem, undefined);
  const { events } = fromBinary(HistorySchema, bytes);
  let looked = 0;
  for (let position = 1; position <= events.length; position += step) {
    const fresh = await openSession(prefixFor(whole, events, position), { realm: h.realm });
    deepEqual(
      describePosition(fresh, position),
      describePosition(whole, position),
      `at event ${position}`,
    );
    looked++;
  }
  return looked;
}

export const cases: Case[] = [
  {
    name:
      "lines of a session: every position of a native run equals a fresh replay of what came before",
    run: () =>
      withRealm(
        TEXT,
        async (h) => ok(await exact(h, await cartHistory(h), 2) > 20, "positions"),
        OPTIONS,
      ),
  },
  {
    name:
      "lines of a session: positions of a program for Temporal equal a fresh replay of what came before",
    async run() {
      const json = JSON.parse(
        await readTextFile("tests/unit/compat/histories/messages.json"),
      ) as JsonValue;
      const bytes = toBinary(
        HistorySchema,
        fromJson(HistorySchema, json, { ignoreUnknownFields: true }),
      );
      const sources = {
        "/app/messages.ts": await readTextFile("tests/unit/compat/programs/messages.ts"),
      };
      await withRealm("", async (h) => {
        ok(await exact(h, bytes, 5) > 20, "positions");
        const session = await openSession(bytes, { realm: h.realm });
        const code = session.code!;
        deepEqual(code.fibers.slice(0, 3).map(({ name, parent, cause }) => [name, parent, cause]), [
          ["run", undefined, 1],
          ["handler of add", 0, 6],
          ["handler of ask", 0, 11],
        ]);
        deepEqual(code.why(30).takes, {
          signals: ["add", "stop"],
          updates: ["ask"],
          anySignal: true,
        });
        deepEqual(
          code.parked(30).filter(({ isOuter }) => !isOuter).map((
            { fiberName, place, kind },
          ) => [fiberName, place?.line, kind]),
          [["handler of ask", 30, "timer"], ["run", 49, "activity"], [
            "handler of add",
            22,
            "timer",
          ]],
        );
      }, { workflows: "/app/messages.ts", sources, scopes: "rewritten", lines: true });
    },
  },
  {
    name:
      "lines of a session: an activity whose cancellation is in a later task is not canceled yet",
    async run() {
      const text = `import * as wf from "@temporalio/workflow";
const acts = wf.proxyActivities({ startToCloseTimeout: "10s", cancellationType: "TRY_CANCEL" });
export async function Main() {
  const scope = new wf.CancellationScope();
  const answer = scope.run(() => acts.charge());
  await wf.sleep(1000);
  scope.cancel();
  let text = "charged";
  try {
    await answer;
  } catch {
    text = "cancelled";
  }
  await wf.sleep(2000);
  return text;
}`;
      await withRealm(text, async (h) => {
        const run = h.start("Main");
        await run.auto();
        ok(await exact(h, run.server.history(), 1) > 12, "positions");
      }, OPTIONS);
    },
  },
  {
    name: "lines of a session: a task without commands runs if only the next task's start follows",
    async run() {
      const text = `import * as wf from "@temporalio/workflow";
export async function Main() {
  let taken = 0;
  wf.setHandler(wf.defineUpdate("add"), () => ++taken);
  await wf.condition(() => taken > 0);
  return taken;
}`;
      await withRealm(text, async (h) => {
        const run = h.start("Main");
        await run.task();
        run.server.update("u1", "add");
        await run.task();
        await exact(h, run.server.history(), 1);
      }, OPTIONS);
    },
  },
  {
    name: "lines of a session: a local activity is not confused with the timer of the same number",
    async run() {
      const text = `${API}
const near = api.localActivities({ startToClose: "5s" });
export const main = workflow("Main", async () => {
  const found = await near.lookUp("x").catch(() => "nothing");
  await sleep(1000);
  return found;
});`;
      const local = new LocalHost();
      await withRealm(text, async (h) => {
        const { server } = h.start("Main");
        const task = async () => {
          server.report(
            await h.realm.runTask(readWorkflowTask(server.openTask({ sticky: true })), local.run),
          );
        };
        while (server.timers.size === 0) await task();
        server.fireTimer([...server.timers.keys()][0]!);
        await task();
        const bytes = server.history();
        await exact(h, bytes, 1);
        const session = await openSession(bytes, { realm: h.realm });
        const woken = session.code!.causes.find(({ place }) => place?.line === 6)!;
        equal(session.events[woken.eventId - 1]!.type, "MarkerRecorded");
      }, OPTIONS);
    },
  },
  {
    name:
      "lines of a session: the current position, the lines passed, their changes, and the way to each",
    run: () =>
      withRealm(TEXT, async (h) => {
        const session = await openSession(await cartHistory(h), { realm: h.realm });
        const code = session.code!;
        equal(code.files.length, 1);
        const at = (part: string) => ({ file: 0, line: findLine(part) });
        const [start, first, second, , slept] = session.tasks.map(({ eventId }) =>
          eventId
        ) as number[];

        // Lines.
        const sleeping = at("await sleep(1000)");
        equal(code.counts(0, session.length).hits[sleeping.line], 3);
        equal(code.counts(0, start!).hits[sleeping.line], 0);
        equal(code.counts(0, second!).hits[at("const more").line], 2);
        equal(code.counts(0, second!).inTask[at("const more").line], 1);
        ok(code.files[0]!.executable.includes(sleeping.line), "it can run");
        deepEqual(code.runsOf(at("const more")), [first, second]);
        equal(code.nextRun(at("const more"), start!), first);
        equal(code.nextRun(at("const more"), second!), undefined);
        equal(code.previousRun(at("const more"), session.length), second);

        // The current position.
        const [parked, ...others] = code.parked(second!);
        deepEqual(others, []);
        deepEqual([parked!.fiberName, parked!.place, parked!.kind, parked!.since], [
          "run",
          at("await receive"),
          "receive",
          start,
        ]);
        ok(
          code.why(second!).sentence.startsWith(
            `Run waits at line ${
              at("await receive").line
            } for update add or signal done, since event`,
          ),
          code.why(second!).sentence,
        );
        const both = session.tasks.find(({ eventId }) =>
          code.parked(eventId)[0]?.place?.line === at("Promise.all").line
        )!;
        deepEqual(code.parked(both.eventId).map(({ kind, label }) => [kind, label]), [[
          "timer",
          "2 × sleep",
        ]]);
        equal(code.why(session.length).sentence.startsWith("It has completed"), true);

        // Fibers, and what woke them.
        deepEqual(code.fibers.map(({ name, parent }) => [name, parent]), [
          ...[
            ["run", undefined],
            ["handler of add", 0],
            ["handler of add", 0],
            ["handler of done", 0],
            ["branch 1", 0],
            [
              "branch 2",
              0,
            ],
          ],
        ]);
        const fired = code.causes.find(({ taskEventId, fiber }) =>
          taskEventId === slept && fiber === 0
        )!;
        equal(session.events[fired.eventId - 1]!.type, "TimerFired");
        deepEqual(fired.place, sleeping);

        // Values.
        const crossed = code.crossings(second!).filter(({ kind }) =>
          ["message", "answer", "accumulator"].includes(kind)
        );
        deepEqual(
          crossed.map(({ kind, value, before, isNew }) => [kind, value.value, before?.value, isNew])
            .sort(([a], [b]) => a === b ? 0 : a! < b! ? -1 : 1),
          [
            ["accumulator", [], undefined, false],
            ["accumulator", ["book", "pen"], ["book"], true],
            ["answer", 2, 1, true],
            ["message", ["pen"], ["book"], true],
          ],
        );
        deepEqual(code.variables(at("return reply"), second!)?.more?.value, ["book", "pen"]);
        deepEqual(code.logPoint(sleeping, "i * 10 + slept").map(({ value }) => value), [0, 11, 22]);
        const errorOf = (text: string) => code.logPoint(sleeping, text)[0]!.error ?? "";
        match(errorOf("nothing"), /^"nothing" is not defined; known names: .*\bslept\b/);
        equal(errorOf("slepd + 1"), '"slepd" is not defined; did you mean slept?');
        // The line itself does not know the variable that it declares yet.
        const receiving = at("const items = await receive");
        ok(code.logPoint(receiving, "items.length")[0]!.error !== undefined);
        deepEqual(
          code.logPoint(receiving, "items.length", "items").map(({ value }) => value),
          [2],
        );
        const changed = code.lastChange("published", ["count"], session.length)!;
        deepEqual([changed.taskEventId, changed.before, changed.after], [second, 1, 2]);
        deepEqual(changed.place, at("const publish"));
        for (let position = 1; position <= session.length; position++) {
          for (const path of [[], ["count"], ["nothing"]]) {
            for (const  of of["published", "accumulator", { variable: "slept" }] as const) {
              deepEqual(
                code.lastChange(of, path, position),
                code.changes(of, path, position).at(-1),
              );
            }
          }
        }
        deepEqual(code.logs(session.length).map(({ message, place }) => [message, place?.line]), [
          ["a branch has slept", at("log.info").line],
        ]);
        deepEqual(code.commands(slept!).map(({ kind, place }) => [kind, place?.line]), [[
          "StartTimer",
          sleeping.line,
        ]]);

        // Breakpoints.
        equal(code.findNext(1, "forward", { when: "state.count >= 2" }), second);
        equal(code.findNext(session.length, "back", { when: "state.count >= 2" }), second);
        equal(
          code.findNext(1, "forward", { when: ({ variables }) => variables.slept === 2 }),
          code.findNext(1, "forward", { when: "slept === 2" }),
        );
        equal(code.findNext(1, "forward", { place: at("const more") }), first);
        equal(code.findNext(session.length, "back", { place: at("const more") }), second);
        equal(code.findNext(1, "forward", { command: "StartTimer" }), session.tasks[3]!.eventId);
        equal(
          session.events[code.findNext(1, "forward", { eventType: "TimerFired" })! - 1]!.type,
          "TimerFired",
        );
        equal(code.findNext(1, "forward", { when: "state.count > 9" }), undefined);
      }, OPTIONS),
  },
  {
    name:
      "lines of a session: generated code maps to its original lines, and without probes a session has no lines",
    run: () =>
      withRealm(TEXT, async (h) => {
        const bytes = await cartHistory(h);
        // Each line of the module comes from the line ten further on.
        const mappings = TEXT.split("\n").map((_, i) => i === 0 ? "AAUA" : "AACA").join(";");
        const map = btoa(
          JSON.stringify({ version: 3, sources: ["src/cart.ts"], names: [], mappings }),
        );
        const mapped = `${TEXT}\n//# sourceMappingURL=data:application/json;base64,${map}`;
        await withRealm(mapped, async ({ realm }) => {
          const { code, length } = await openSession(bytes, { realm });
          equal(code!.files[0]!.name.endsWith("/app/src/cart.ts"), true, code!.files[0]!.name);
          const line = findLine("await sleep(1000)") + 10;
          equal(code!.counts(0, length).hits[line], 3);
          ok(
            code!.crossings(length).some(({ place, name }) =>
              place.line === line && name === "slept"
            ),
            "values at the line",
          );
        }, OPTIONS);
        await withRealm(TEXT, async ({ realm }) =>
          equal((await openSession(bytes, { realm })).code, undefined));
      }, OPTIONS),
  },
  {
    name: "lines of a session: expressions read only copies",
    run() {
      const names = {
        items: [{ sku: "a", n: 2 }, { sku: "b", n: 3 }],
        text: "book",
        nothing: null,
        long: [1, 2, "<40 more>", 43],
      };
      const value = (text: string) =>
        parseExpression(text)((name) =>
          Object.hasOwn(names, name)
            ? { value: (names as { [name: string]: unknown })[name] }
            : undefined
        );
      for (
        const [text, wanted] of [
          ["items.length > 1 && items[0].sku === 'a'", true],
          ["items.some((item, i) => item.n === 3 && i === 1)", true],
          ["items.map(item => item.n * 2)", [4, 6]],
          ["nothing?.deep.er ?? 'none'", "none"],
          ['text.startsWith("bo") ? 1 + 2 * 3 : -1', 7],
          ["!(text === 'x') || false", true],
          ["typeof items", "object"],
          ["text + 1", "book1"],
          ["long.length", 43],
          ["long[42]", 43],
          ["items.constructor", undefined],
          ["text.constructor", undefined],
        ] as const
      ) deepEqual(value(text), wanted, text);
      for (
        const text of [
          "items = 1",
          "1 +",
          "items.push(1)",
          "new Date()",
          "`x`",
          "a.b.c(",
          "constructor.constructor('x')()",
        ]
      ) {
        throws(() => parseExpression(text)(() => undefined), /^ExpressionError: /);
      }
      for (
        const [text, message] of [
          ["unknown > 1", '"unknown" is not defined: no value is recorded here'],
          [
            "items.map((item) => itme.n)",
            '"itme" is not defined; did you mean item?',
          ],
          [
            "long[10]",
            "item 10 was not recorded: only the first and last items of long lists are recorded",
          ],
          [
            "(".repeat(5000),
            "the expression is nested too deeply at column 201 (limit: 200 levels)",
          ],
          ["1 + * 2", 'unexpected "*" at column 5'],
          [
            "items.some(",
            "the expression ends unexpectedly; a value, a name or a closing bracket is missing",
          ],
          ["text.map((x) => x)", "map() needs an array, not a string"],
          [
            "nothing.deep",
            'cannot read "deep" of null; write ?. before it if the value can be missing',
          ],
        ] as const
      ) equal(messageOf(() => value(text)), message);
    },
  },
];
