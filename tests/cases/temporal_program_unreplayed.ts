// Queries, validators and the interceptors around them do not run again on replay (guarantee P3).
// In programs of `@temporalio/workflow` they may draw random numbers, which are not those of the
// run: a run that was queried continues as one that was not, and its history replays.
import { hasAsyncStorage } from "../../ts/platform/async_context.ts";
import { readWorkflowTask } from "../../ts/messages/workflow_task.ts";
import { deepEqual, equal, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import type { RealmHarness } from "./realm_host.ts";
import { IMPORTS, withProgram } from "./temporal_program_support.ts";

/** Both ways in which scopes follow async functions, where the runtime has both. */
const SCOPES = hasAsyncStorage()
  ? ["rewritten", "asyncLocalStorage"] as const
  : ["rewritten"] as const;

/**
 * Numbers of hostile code for one kind of scopes: all for the first, and for the second one of
 * three, among which is every deed and every shape.
 */
function* hostileNumbers(scopes: (typeof SCOPES)[number]): Generator<number> {
  const count = deeds.length * Object.keys(SHAPES).length;
  for (let n = 0; n < count; n += scopes === SCOPES[0] ? 1 : 3) yield n;
}

/** What draws. `own` is a stream that the workflow made, `w.with` puts one around code. */
const DRAWS: readonly string[] = [
  "Math.random()",
  "wf.uuid4()",
  "wf.workflowRandom.uuid4()",
  "wf.workflowRandom.fill(new Uint8Array(3))",
  "wf.workflowRandom.with(() => wf.uuid4())",
  "wf.getRandomStream('own').uuid4()",
  "own.random()",
  "own.with(() => Math.random())",
];

/** What issues commands, which a query cannot. */
const COMMANDS: readonly string[] = [
  "void wf.sleep(5).catch(() => {})",
  "void wf.startChild('x').catch(() => {})",
  "void wf.proxyActivities({ startToCloseTimeout: 1000 }).a().catch(() => {})",
  "void wf.getExternalWorkflowHandle('x').signal('y').catch(() => {})",
  "wf.patched('p')",
  "wf.upsertMemo({ a: 1 })",
];

/** Code that calls `deed()`: what a query returns, what a validator throws. */
const SHAPES: { readonly [name: string]: string } = {
  directly: "deed(); return 1;",
  "in toJSON": "return { toJSON() { return String(deed()); } };",
  "in a getter": "return { get a() { return String(deed()); } };",
  "in a getter of an error":
    'throw Object.defineProperty(new Error("x"), "message", { get: () => "m" + String(deed()) });',
  "in the details of a failure":
    'throw wf.ApplicationFailure.nonRetryable("x", "T", { toJSON() { return String(deed()); } });',
  "after a promise": "Promise.resolve().then(deed).catch(() => {}); return 1;",
  "after ten awaits":
    "void (async () => { for (let i = 0; i < 10; i++) await null; deed(); })().catch(() => {}); return 1;",
  "in an async generator":
    "void (async () => { for await (const x of (async function* () { yield 1; yield deed(); })()) void x; })().catch(() => {}); return 1;",
};

const deeds = [...DRAWS, ...COMMANDS];

const MAIN = `${IMPORTS}
import { hook } from "./hook.ts";
export async function w() {
  const own = wf.getRandomStream("own");
  const deeds: (() => unknown)[] = [${deeds.map((deed) => `() => ${deed}`).join(", ")}];
  const shapes: ((deed: () => unknown) => unknown)[] = [${
  Object.values(SHAPES).map((code) => `(deed) => { ${code} }`).join(",\n")
}];
  const hostile = (n: number) => shapes[Math.floor(n / deeds.length)]!(deeds[n % deeds.length]!);
  hook.draw = () => { own.random(); return wf.uuid4(); };
  let accepted = 0;
  let open = true;
  wf.setHandler(wf.defineQuery<unknown, [number]>("q"), (n: number) => n < 0 ? [Math.random(), wf.uuid4(), own.uuid4()] : hostile(n));
  wf.setHandler(wf.defineUpdate<number, [number]>("ask"), () => ++accepted, {
    validator(n: number) { const value = hostile(n); if (typeof value === "object") throw wf.ApplicationFailure.create({ message: "no", details: [value] }); },
  });
  wf.setHandler(wf.defineSignal("go"), () => void (open = false));
  await wf.condition(() => !open);
  const seen: unknown[] = [];
  for (let i = 0; i < 4; i++) {
    seen.push(Math.random(), wf.uuid4(), own.uuid4());
    await wf.sleep(Math.random() < 0.5 ? 1 : 3);
  }
  return seen;
}`;

const HOOK = "export const hook: { draw: () => unknown } = { draw: () => 0 };";

/**
 * As a tracer does that makes ids, around everything; and with a stream put around what it calls.
 */
const TRACING = `${IMPORTS}import { hook } from "./hook.ts";
const traced = (input: any, next: any) => { hook.draw(); return wf.getRandomStream("traces").with(() => { wf.uuid4(); return next(input); }); };
export const interceptors = () => ({ inbound: [{
  handleQuery: async (input: any, next: any) => { await null; hook.draw(); return traced(input, next); },
  validateUpdate: traced,
}], internals: [{
  activate(input: any, next: any) { if (input.activation.jobs.every((job: any) => job.variant === "queryWorkflow")) hook.draw(); next(input); },
}] });`;

interface Life {
  readonly result: unknown;
  readonly replayed: string;
  readonly failure: string;
}
type Acts = readonly (readonly ["query" | "update", number])[];
const RUN_ID = "13131313-1313-4313-8313-131313131313";

async function live(h: RealmHarness, acts: Acts): Promise<Life> {
  const run = h.start("w", { runId: RUN_ID });
  const { server } = run;
  await run.task();
  for (const [kind, n] of acts) {
    if (kind === "query") {
      server.report(await h.realm.runTask(readWorkflowTask(server.queryTask("q", [n], true))));
    } else {
      server.update(`u${server.updates.size}`, "ask", n);
      await run.task();
    }
    if (run.failure !== "") break;
  }
  server.signal("go");
  const result = run.failure === "" ? await run.auto() : undefined;
  const { verdict, error } = await h.realm.replay("wf", server.history());
  h.realm.evict(RUN_ID);
  return { result, replayed: error?.message ?? verdict, failure: run.failure };
}

function program<T>(
  tracing: boolean,
  scopes: (typeof SCOPES)[number],
  body: (h: RealmHarness) => Promise<T>,
): Promise<T> {
  const sources = { "/app/main.ts": MAIN, "/app/hook.ts": HOOK, "/app/i.ts": TRACING };
  return withProgram(sources, body, { scopes, ...(tracing && { interceptors: "/app/i.ts" }) });
}

export const cases: Case[] = [
  ...SCOPES.map((scopes): Case => ({
    name:
      `unreplayed code of temporal programs: no draw and no command of a query moves the run (${scopes})`,
    run: () =>
      program(false, scopes, async (h) => {
        const plain = await live(h, []);
        equal(plain.replayed, "ok");
        const wrong: string[] = [];
        for (const n of hostileNumbers(scopes)) {
          const met = await live(h, [["query", n]]);
          if (JSON.stringify(met) !== JSON.stringify(plain)) {
            wrong.push(
              `${deeds[n % deeds.length]} ${Object.keys(SHAPES)[Math.floor(n / deeds.length)]}: ${
                met.failure || met.replayed
              }`,
            );
          }
        }
        equal(wrong.join("\n"), "");
      }),
  })),
  ...SCOPES.map((scopes): Case => ({
    name: `unreplayed code of temporal programs: no draw of a validator moves the run (${scopes})`,
    run: () =>
      program(false, scopes, async (h) => {
        const plain = await live(h, []);
        const wrong: string[] = [];
        for (const n of hostileNumbers(scopes)) {
          if (n % deeds.length >= DRAWS.length) continue;
          const met = await live(h, [["update", n]]);
          if (JSON.stringify(met) !== JSON.stringify(plain)) {
            wrong.push(
              `${deeds[n % deeds.length]} ${Object.keys(SHAPES)[Math.floor(n / deeds.length)]}: ${
                met.failure || met.replayed
              }`,
            );
          }
        }
        equal(wrong.join("\n"), "");
      }),
  })),
  {
    name:
      "unreplayed code of temporal programs: interceptors that draw around queries and validators move nothing",
    run: () =>
      program(true, SCOPES.at(-1)!, async (h) => {
        const plain = await live(h, []);
        equal(plain.replayed, "ok");
        deepEqual(
          await live(h, [["query", 0], ["update", 0], ["update", 4 * deeds.length], [
            "query",
            2 * deeds.length,
          ]]),
          plain,
        );
      }),
  },
  {
    name:
      "unreplayed code of temporal programs: a query draws numbers that no other query and no run draws",
    run: () =>
      program(false, SCOPES.at(-1)!, async (h) => {
        const ask = async () => {
          const run = h.start("w", { runId: RUN_ID });
          await run.task();
          run.server.report(
            await h.realm.runTask(readWorkflowTask(run.server.queryTask("q", [-1], true))),
          );
          h.realm.evict(RUN_ID);
          return run.server.queryAnswers["query"]!;
        };
        // A trace id that is made in a query must not come again when the run has left memory.
        const texts = [await ask(), await ask()].map((result) => JSON.stringify(result));
        ok(texts[0] !== texts[1], texts[0]!);
      }),
  },
];
