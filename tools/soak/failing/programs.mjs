// 60 programs that throw in different ways: native ones, native entities, and programs for Temporal.
// Each is recorded without its statement, and has one more line when it is replayed.
import { strip } from "../verdicts/edits.mjs";

/**
 * Statements that throw, and what their message has.
 *
 * @type {(readonly [statement: string, message: RegExp])[]}
 */
const WAYS = [
  ['throw new Error("broken");', /broken/],
  ["(undefined).boom;", /undefined/],
  ["(null).boom();", /null/],
  ["missing();", /missing/],
  ["const f = () => f(); f();", /call stack|recursion/i],
  ['throw "a text";', /a text/],
  ["throw { code: 7 };", /object/i],
  ['JSON.parse("{");', /JSON/],
  ['class Own extends Error {} throw new Own("own");', /own/],
  ["[].reduce((a, b) => a);", /initial/],
  ["new Array(-1);", /array length/],
  ['await Promise.reject(new Error("rejected"));', /rejected/],
  ["throw undefined;", /undefined/],
  ["throw null;", /null/],
  ['"x".repeat(-1);', /count/],
  ["(1).toFixed(101);", /digits/],
  ["BigInt(1.5);", /1\.5/],
  ["1n + 1;", /BigInt/],
  ['decodeURIComponent("%");', /URI/],
  ['new RegExp("(");', /regular expression/],
  ['Symbol("s") + "";', /Symbol/],
  ["const once = 1; once = 2;", /constant/],
  ['Object.defineProperty(Object.freeze({}), "a", { value: 1 });', /extensible/],
  ["const [first] = null;", /null/],
  ["for (const x of 5) x;", /iterable/],
  ['new (class { constructor() { throw new Error("in constructor"); } })();', /in constructor/],
  ['({ get x() { throw new Error("in getter"); } }).x;', /in getter/],
  ['await Promise.all([Promise.reject(new Error("all"))]);', /all/],
  ['await Promise.any([Promise.reject(new Error("any"))]);', /rejected/],
  ['throw new AggregateError([new Error("a")], "many");', /many/],
  ['throw Object.assign(new Error("with code"), { code: "E" });', /with code/],
  ['throw new Error("outer", { cause: new Error("inner") });', /outer/],
  ["early; let early = 1;", /early/],
  ["new (5)();", /constructor/],
  ["class P { #p = 1; static read(o) { return o.#p; } } P.read({});", /#p/],
  ["[1].at.call(null);", /null/],
  ["Reflect.construct(1, []);", /constructor/],
  ['new Proxy({}, { get() { throw new Error("in trap"); } }).x;', /in trap/],
  ['[3, 1].sort(() => { throw new Error("in compare"); });', /in compare/],
  ['[1].map(() => { throw new Error("in map"); });', /in map/],
  ["new Date(NaN).toISOString();", /time value/],
  ["(12).toString(99);", /radix/],
  ["parseInt.apply(null, 5);", /object/],
  ["new ArrayBuffer(-1);", /length/],
  ["new Uint8Array(-1);", /length/],
  ['"abc".normalize("X");', /form/],
  ["String.fromCodePoint(-1);", /code point/],
  ['await (async () => { await null; throw new Error("later"); })();', /later/],
  ['[...(function* () { throw new Error("generator"); })()];', /generator/],
  ['for await (const x of (async function* () { throw new Error("stream"); })()) x;', /stream/],
  ["const own = {}; own.own = own; JSON.stringify(own);", /circular/],
  ["JSON.stringify(1n);", /BigInt/],
  ["process.exit(1);", /process/],
  ["[].concat(...null);", /iterable|null/],
  ['await Promise.resolve().then(() => { throw new Error("then"); });', /then/],
  ["new Map([1]);", /entry object/],
  ['"x" in "y";', /'in' operator/],
  ["({}) instanceof 5;", /instanceof/],
  ["const { a: { b } } = {};", /undefined/],
  ["Object.fromEntries(5);", /iterable/],
];

const NATIVE_HEAD = (type) =>
  `import { activities, noreply, on, parallel, receive, reply, select, signal, sleep, stop, timer, update, waitForSignal, workflow } from "temporalex/workflow";

const acts = activities<any>({ startToClose: "1m" });
const add = update<[n: number], number>("add");
const note = signal("note");
const close = signal("close");

async function helper() {
  await acts.audit("helper");
  //HELPER
}

export const main = workflow("${type}", async () => {
`;

const COMPAT_HEAD = (type) =>
  `import { CancellationScope, condition, defineSignal, defineUpdate, proxyActivities, setHandler, sleep } from "@temporalio/workflow";

const acts = proxyActivities<any>({ startToCloseTimeout: "1m" });
const add = defineUpdate<number, [number]>("add");
const note = defineSignal("note");
const close = defineSignal("close");

async function helper() {
  await acts.audit("helper");
  //HELPER
}

export async function ${type}() {
`;

const RECEIVE = (adding = "", noting = "", closing = "") =>
  `  await receive<number>(0, [
    on(add, async ([n], sum) => {
      ${adding}
      await acts.store(n);
      return reply(n, sum + n);
    }),
    on(note, async (_, sum) => {
      ${noting}
      await acts.notify(sum);
      return noreply(sum);
    }),
    on(close, async (_, sum) => {
      ${closing}
      return stop(sum);
    }),
  ]);
  await acts.ship("all");
`;

const HANDLERS = (adding = "", noting = "") =>
  `  let isClosed = false;
  setHandler(add, async (n) => {
    ${adding}
    await acts.store(n);
    return n;
  });
  setHandler(note, async () => {
    ${noting}
    await acts.notify("noted");
  });
  setHandler(close, () => {
    isClosed = true;
  });
`;

const HERE = "//HERE";

/** Bodies of native programs. The line with HERE, or the helper's, throws. */
const NATIVE_PLACES = [
  () => `  ${HERE}\n  await acts.ship("a");\n  await sleep("5s");\n`,
  () => `  await acts.ship("a");\n  ${HERE}\n  await sleep("5s");\n`,
  () => `  await acts.ship("a");\n  await helper();\n  await sleep("5s");\n`,
  () =>
    `  try {\n    await sleep("1s");\n    ${HERE}\n    await acts.ship("a");\n  } finally {\n    1;\n  }\n`,
  () =>
    `  const first = await select([\n    on(() => acts.ship("a"), (x) => {\n      ${
      HERE.replace("HERE", "SYNC")
    }\n      return x;\n    }),\n    timer("1h", () => "late"),\n  ]);\n  await acts.store(first);\n`,
];
const ENTITY_PLACES = [
  () => RECEIVE(HERE),
  () => RECEIVE("", HERE),
  () => RECEIVE("", "", HERE),
  () => `${RECEIVE()}  ${HERE}\n  await sleep("5s");\n`,
];
const COMPAT_PLACES = [
  () => `${HANDLERS()}  ${HERE}\n  await acts.ship("a");\n  await condition(() => isClosed);\n`,
  () => `${HANDLERS(HERE)}  await condition(() => isClosed);\n  await acts.ship("a");\n`,
  () => `${HANDLERS("", HERE)}  await condition(() => isClosed);\n  await acts.ship("a");\n`,
  () =>
    `${HANDLERS()}  await helper();\n  await condition(() => isClosed);\n  await acts.ship("a");\n`,
  () =>
    `${HANDLERS()}  await condition(() => isClosed);\n  await CancellationScope.nonCancellable(async () => {\n    ${HERE}\n    await acts.ship("a");\n  });\n`,
];

const start = async (env, type, id) => await env.client.start(type, { id });

async function driveMessages(env, type, id) {
  const handle = await start(env, type, id);
  await env.advance("1s");
  await handle.update("add", 2);
  await handle.signal("note");
  await env.advance("1s");
  await handle.signal("close");
  await handle.result();
}

/** Statements that await cannot be in a callback that is not async. */
const isSync = (code) => !/\bawait\b/.test(code);

/**
 * Returns the programs: their kind, workflow type, code without and with the statement, its line,
 * and what a client does.
 */
export function failingPrograms() {
  return WAYS.map(([statement, message], i) => {
    const kind = ["native", "entity", "compat"][i % 3];
    const places = { native: NATIVE_PLACES, entity: ENTITY_PLACES, compat: COMPAT_PLACES }[kind];
    const at = Math.floor(i / 3) % places.length;
    let body = places[at]();
    if (body.includes("//SYNC") && !isSync(statement)) body = NATIVE_PLACES[1]();
    body = body.replace("//SYNC", HERE);
    const type = `W${i}`;
    const end = kind === "compat" ? '  return "done";\n}\n' : '  return "done";\n});\n';
    const text = (kind === "compat" ? COMPAT_HEAD : NATIVE_HEAD)(type) + body + end;
    const mark = body.includes(HERE) ? HERE : "//HELPER";
    const clean = (code) => code.replace(/\/\/(HERE|HELPER)/, ";");
    const good = strip(clean(text));
    const broken = strip(clean(text.replace(mark, () => statement)));
    const line = broken.split("\n").findIndex((one) => one.trim() === statement) + 1;
    const drive = kind === "native"
      ? async (env) => void (await (await start(env, type, type)).result())
      : (env) => driveMessages(env, type, type);
    return { kind, name: type, statement, message, good, broken, line, drive };
  });
}
