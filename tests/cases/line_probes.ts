// Modules with probes, as debug sessions have them, do what they do without: jobs and commands are
// byte for byte the same, for programs of both kinds, whatever the language allows them to write
// and however hostile their values are to a look.
import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { HistorySchema } from "../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import type { ReplayVerdict } from "../../ts/executor/tasks/replay.ts";
import type { LineTrace } from "../../ts/executor/tasks/line_records.ts";
import { hasAsyncStorage } from "../../ts/platform/async_context.ts";
import { fileSources } from "../../ts/platform/source_files.ts";
import { deepEqual, equal, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import {
  API,
  createRealmFromTexts,
  type RealmHarness,
  type RealmOptions,
  withRealm,
} from "./realm_host.ts";
import { SharedRealm, type UseShared } from "./shared_realm.ts";

const OPTIONS = { record: true, trace: true, lines: true, callSites: "always" } as const;

/** Set by the Chromium runner, which has no files. */
const browser = globalThis as unknown as { __caseSources?: { [path: string]: string } };

/** The text of a file of the repository; this module may lie in dist. */
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

/** What code did, but for the columns of its call sites. */
const done = ({ verdict, error, warnings, recorded, trace }: ReplayVerdict) => ({
  ...{ verdict, message: error?.message, warnings, jobs: trace?.jobs, published: trace?.published },
  recorded: recorded?.map((each) => ({
    ...each,
    commands: each.commands.map((command) => ({ ...command, site: "" })),
  })),
  logs: trace?.logs.map(({ from, value }) => [from, value.level, value.message]),
});

/** Replays with probes and without; returns the trace of lines. */
async function compared(
  history: { readonly workflowId: string; readonly bytes: Uint8Array },
  realms: readonly UseShared<RealmHarness>[],
): Promise<LineTrace> {
  const verdicts: ReplayVerdict[] = [];
  for (const use of realms) {
    verdicts.push(
      await use(({ realm }) => realm.replay(history.workflowId, history.bytes, OPTIONS)),
    );
  }
  const [without, probed] = verdicts as [ReplayVerdict, ReplayVerdict];
  equal(without.trace!.lines, undefined);
  deepEqual(done(probed), done(without));
  return probed.trace!.lines!;
}

/**
 * Runs a native program (its lines stand below `API`), timers fired one by one, and compares its
 * replays.
 */
async function comparedRun(program: string): Promise<{ lines: LineTrace; result: unknown }> {
  const text = `${API}${program}`;
  const { result, history } = await withRealm(text, async (h) => {
    const run = h.start("W");
    const result = await run.auto();
    equal(run.failure, "");
    return { result, history: { workflowId: run.server.workflowId, bytes: run.server.history() } };
  });
  const realms = BOTH.map((lines): UseShared<RealmHarness> => (body) =>
    withRealm(text, body, { lines })
  );
  return { result, lines: await compared(history, realms) };
}

/** Without probes and with them. */
const BOTH = [false, true] as const;

/** Hits of the lines of the modules, or of one, those of loading included. */
function hitsOf({ hits, modules }: LineTrace, path?: string): { [line: number]: number } {
  const points = modules.flatMap(({ points, url }) =>
    points.map((point) => ({ ...point, isCounted: path === undefined || url.endsWith(path) }))
  );
  const found: { [line: number]: number } = {};
  for (let i = 0; i < hits.length; i += 3) {
    const { line, kind, isCounted } = points[hits[i]!]!;
    if (isCounted && kind === "statement") found[line] = (found[line] ?? 0) + hits[i + 2]!;
  }
  return found;
}

/** The variables of all looks at a line, as text. */
function looksAt(
  { looks, modules, texts }: LineTrace,
  line: number,
): { [name: string]: string | undefined }[] {
  const points = modules.flatMap(({ points }) => points);
  return looks.filter(({ point }) => points[point]!.line === line).map((look) =>
    Object.fromEntries(
      points[look.point]!.variables.map((name, i) => [name, texts[look.texts[i]!]]),
    )
  );
}

/** Statements of every kind, on as few lines as people write them, and what they give. */
const LANGUAGE = `
const top = 0
class C { #x = 1; static s = [1].map(a => a + 1); get x() { return this.#x } ; m = () => this.#x; static { C.k = 3 } }
function* gen(n) { for (let i = 0; i < n; i++) yield i; return n }
async function* agen() { yield await sleep(1); yield 2 }
export const w = workflow("W", async function run() {
  "use strict"
  let t = top
  const out = [], up = n => t += n
  if (out.length) out.push("never"); else if (t === 0) out.push("else if")
  else out.push("else")
  outer: for (const a of [1, 2, 3]) for (const b of [1, 2]) { if (b === 2) continue outer; if (a === 3) break outer; out.push(a * b) }
  do up(1); while (t < 3)
  switch (t) { case 3: let q = "three"; out.push(q); case 4: out.push("falls"); break; default: out.push("no") }
  for (var i = 0, j = 5; i < j; i++, j--);
  out.push(i, j)
  const f = async ({ a = t, ...rest } = {}, [b] = [a]) => ({ a, b, rest })
  out.push(await f(), await f({ a: 9, z: 1 }), await (t, 5), await await Promise.resolve(6))
  out.push(...gen(3), C.s[0], new C().x, new C().m(), C.k)
  for await (const v of agen()) out.push(v ?? "slept")
  try { await sleep(1); throw new Error("x") } catch ({ message }) { out.push(message) } finally { out.push("finally") }
  const g = () => (() => ({ deep: { er: t } }))
  out.push(g()().deep.er, f.name, run.name, (function named() { return named.name })())
  label: { out.push("in"); break label; out.push("never") }
  with_(out, t)
  var hoisted = typeof later; out.push(hoisted, later())
  function later() { return "later" }
  out.push(await Promise.all([sleep(1), 2].map(async (p) => await p)))
  return out
})
function with_(list, t) { return list.push(\`\${t}\`) }
`;

/** Values that strike back when they are looked at. */
const HOSTILE = `
export const w = workflow("W", async () => {
  let touched = 0;
  const note = () => { touched++; throw new Error("touched"); };
  const getter = { get boom() { return note(); }, plain: 1 };
  const proxy = new Proxy({ a: 1 }, { get: note, ownKeys: note, getOwnPropertyDescriptor: note, getPrototypeOf: note, has: note });
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  const circular = { name: "me" }; circular.self = circular;
  const big = "x".repeat(20000);
  const many = Array.from({ length: 9000 }, (_, i) => i);
  class Odd { own = 1; get [Symbol.toStringTag]() { return note(); } toJSON() { return note(); } }
  Object.defineProperty(Odd.prototype, "constructor", { get: note });
  const odd = new Odd();
  const held = [proxy, getter, odd, new Map([["k", proxy]]), new Set([1]), new Date(0), 12n, Symbol("s"), undefined, NaN, () => 1];
  const thenable = { get then() { return undefined; } };
  await sleep(1);
  const late = 1;
  await thenable;
  return touched;
});
`;

const OFFICIAL = ["interleaved", "iterated", "messages"];
const SCOPES = hasAsyncStorage()
  ? ["rewritten", "asyncLocalStorage"] as const
  : ["rewritten"] as const;

async function officialRealm(options: RealmOptions): Promise<RealmHarness> {
  const texts: { [path: string]: string } = {};
  for (const program of OFFICIAL) {
    texts[`/app/${program}.ts`] = await readTextFile(`tests/unit/compat/programs/${program}.ts`);
  }
  return await createRealmFromTexts(texts, options);
}

export const cases: Case[] = [
  {
    name: "probes: statements of every kind behave as before and report that they ran",
    async run() {
      const { result, lines } = await comparedRun(LANGUAGE);
      deepEqual(result, [
        ...[
          "else if",
          1,
          2,
          "three",
          "falls",
          3,
          2,
          { a: 3, b: 3, rest: {} },
          { a: 9, b: 9, rest: { z: 1 } },
          5,
          6,
        ],
        ...[
          0,
          1,
          2,
          2,
          1,
          1,
          3,
          "slept",
          2,
          "x",
          "finally",
          3,
          "f",
          "run",
          "named",
          "in",
          "3",
          "function",
          "later",
          [
            undefined,
            2,
          ],
        ],
      ]);
      const first = API.split("\n").length;
      const hits = hitsOf(lines);
      const at = (n: number) => hits[first + n];
      // The first line ran with the module; `"use strict"` is nothing that runs; the arrow of the
      // next line ran three times; the last else of an if never did.
      deepEqual([at(1), at(6), at(7), at(8), at(10)], [1, undefined, 1, 4, undefined]);
    },
  },
  {
    name:
      "probes: inspecting values does not run user code: getters, proxies, classes, uninitialized names",
    async run() {
      const { result, lines } = await comparedRun(HOSTILE);
      equal(result, 0);
      const line = API.split("\n").length + 16;
      const [look] = looksAt(lines, line);
      equal(look!.getter, '{"boom":"<getter>","plain":1}');
      equal(look!.proxy, '"<Proxy>"');
      equal(look!.revoked, '"<Proxy>"');
      equal(look!.circular, '{"name":"me","self":"<circular>"}');
      equal(look!.late, undefined);
      equal(
        look!.held,
        '["<Proxy>",{"boom":"<getter>","plain":1},{"<object>":"","own":1},{"<Map 1>":[["k","<Proxy>"]]},{"<Set 1>":[1]},' +
          '"<Date 1970-01-01T00:00:00.000Z>","<12n>","<symbol>","<undefined>","<NaN>","<function>"]',
      );
      for (const name of ["big", "many"]) {
        ok(look![name]!.length <= 4200, `${name}: ${look![name]!.length}`);
        ok(lines.cut.includes(lines.texts.indexOf(look![name]!)), name);
      }
    },
  },
  ...SCOPES.flatMap((scopes) => {
    const shared = BOTH.map((lines) => new SharedRealm(() => officialRealm({ scopes, lines })));
    return OFFICIAL.map((program): Case => {
      const realms = shared.map((realm) => realm.user());
      const run = async () => {
        const json = JSON.parse(
          await readTextFile(`tests/unit/compat/histories/${program}.json`),
        ) as JsonValue;
        const bytes = toBinary(
          HistorySchema,
          fromJson(HistorySchema, json, { ignoreUnknownFields: true }),
        );
        const lines = await compared({ workflowId: program, bytes }, realms);
        ok(Object.keys(hitsOf(lines, `/${program}.ts`)).length > 10, "lines ran");
        ok(lines.awaits.length > 5, "awaits");
      };
      const name =
        `probes: jobs and commands of an official program are the same, ${scopes}: ${program}`;
      return { name, run };
    });
  }),
];
