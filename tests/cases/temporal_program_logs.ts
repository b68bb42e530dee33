// What programs of `@temporalio/workflow` log and give to sinks: a line must not decide about the
// run that writes it, whatever its values are; and errors in their own causes fail a workflow as
// other errors do.
import { jsonPayloadConverter } from "../../ts/converter/payload.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { API } from "./realm_host.ts";
import { one, withProgram } from "./temporal_program_support.ts";

/**
 * Values by name, with what is seen of them elsewhere; undefined: by structured clone, each runtime
 * in its way.
 */
const VALUES: { readonly [name: string]: readonly [code: string, shown?: string] } = {
  function: ["{ a: 1, f() {} }", '{"a":1,"f":"[function]"}'],
  "function in a list": ["[1, () => 2]", '[1,"[function]"]'],
  symbol: ["Symbol('s')", '"Symbol(s)"'],
  promise: ["{ p: Promise.resolve(1) }", '{"p":"[Promise]"}'],
  getter: ["{ a: 1, get b() { throw new Error('no'); } }", '{"a":1,"b":"[unreadable: no]"}'],
  proxy: ["{ p: new Proxy({ a: 1 }, {}) }", '{"p":{"a":1}}'],
  "class instance": [
    "new (class { #x = 1; y = 2; z = () => this.#x; })()",
    '{"y":2,"z":"[function]"}',
  ],
  "circle with a function": [
    "(() => { const a = { f() {} } as any; a.self = a; return a; })()",
    '{"f":"[function]","self":"[circular]"}',
  ],
  "revoked proxy": ["(() => { const r = Proxy.revocable({}, {}); r.revoke(); return r.proxy; })()"],
  "error in its own causes": [
    "(() => { const a: any = new Error('a'); a.cause = { a }; return a; })()",
  ],
  "error that cannot be read": [
    "Object.defineProperty(new Error('x'), 'message', { get() { throw new Error('q'); } })",
  ],
  deep: ["(() => { let a: any = {}; for (let i = 0; i < 20000; i++) a = { a }; return a; })()"],
};

const MAIN = Object.values(VALUES).map(([code], i) =>
  `export async function w${i}() { const v: any = ${code}; wf.log.info("line", { v }); wf.proxySinks<any>().notes.add(v, 1); return ${i}; }`
).join("\n");

/** As above, for workflows of this package. */
const NATIVE = Object.values(VALUES).map(([code], i) =>
  `export const n${i} = workflow("n${i}", async () => { const v: any = ${code}; log.info("line", { v }); return ${i}; });`
).join("\n");

const shown = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
};

/** Errors in their own causes, as a workflow throws them. */
const CIRCLES: { readonly [name: string]: string } = {
  itself: "error.cause = error;",
  "by way of another": "error.cause = Object.assign(new Error('b'), { cause: error });",
};

export const cases: Case[] = [
  {
    name: "logs and sinks: no value stops the run, and what cannot be copied is named",
    async run() {
      const lines: unknown[] = [], notes: unknown[] = [];
      const line = {
        fn: (_: unknown, _message: string, attributes: { v?: unknown }) =>
          void lines.push(attributes.v),
      };
      const levels = Object.fromEntries(
        ["trace", "debug", "info", "warn", "error"].map((level) => [level, line]),
      );
      const add = {
        fn: (_: unknown, v: unknown, n: unknown) =>
          void notes.push(n === 1 ? v : "the second argument was lost"),
      };
      for (const logger of [false, true]) {
        await withProgram(one(MAIN), async (h) => {
          for (const [i, [name, [, right]]] of Object.entries(VALUES).entries()) {
            lines.length = notes.length = h.logs.length = 0;
            const run = h.start(`w${i}`);
            equal(await run.auto(), i, `${name}: ${run.failure}`);
            const [logged] = logger
              ? lines.filter((v) => v !== undefined)
              : h.logs.map(({ fields }) => fields["v"]);
            equal(notes.length, 1, name);
            if (right === undefined) continue;
            equal(shown(logged), right, name);
            equal(shown(notes[0]), right, name);
          }
        }, { sinks: { notes: { add }, ...(logger && { __temporal_logger: levels }) } });
      }
    },
  },
  {
    name: "logs: no value that a native workflow logs stops it",
    run: () =>
      withProgram({ "/app/main.ts": `${API}${NATIVE}` }, async (h) => {
        for (const [i, [name, [, right]]] of Object.entries(VALUES).entries()) {
          h.logs.length = 0;
          const run = h.start(`n${i}`);
          equal(await run.auto(), i, `${name}: ${run.failure}`);
          equal(h.logs.length, 1, name);
          if (right !== undefined) equal(shown(h.logs[0]!.fields["v"]), right, name);
        }
      }),
  },
  {
    name: "logs: getters of fields draw nothing from the run",
    run: () =>
      withProgram(
        one(`export async function w(deep: boolean) {
          if (deep) wf.log.info("line", { v: { get a() { return Math.random(); }, f() { } } });
          return wf.uuid4();
        }`),
        async (h) => {
          const runId = "14141414-1414-4414-8414-141414141414";
          const results: unknown[] = [];
          for (const deep of [false, true]) {
            const run = h.start("w", { runId, args: [deep] });
            results.push(await run.auto());
            h.realm.evict(runId);
          }
          equal(results[0], results[1]);
        },
      ),
  },
  {
    name:
      "failures: an error in its own causes fails the workflow as it is, with its type and details",
    async run() {
      const lines: unknown[] = [];
      const line = { fn: (_: unknown, message: string) => void lines.push(message) };
      const levels = Object.fromEntries(
        ["trace", "debug", "info", "warn", "error"].map((level) => [level, line]),
      );
      const text = Object.values(CIRCLES).map((code, i) =>
        `export async function w${i}() {
          const error: any = wf.ApplicationFailure.create({ message: "m", type: "T", nonRetryable: true, details: [1] });
          ${code}
          throw error;
        }`
      ).join("\n");
      for (const sinks of [undefined, { __temporal_logger: levels }]) {
        await withProgram(one(text), async (h) => {
          for (const [i, name] of Object.keys(CIRCLES).entries()) {
            const run = h.start(`w${i}`);
            await run.auto();
            equal(run.failure, "", name);
            const { message, failureInfo, cause } = run.server.closed!.failure!;
            ok(failureInfo.case === "applicationFailureInfo", name);
            const { type, nonRetryable, details } = failureInfo.value;
            deepEqual([message, type, nonRetryable], ["m", "T", true], name);
            deepEqual(
              details?.payloads.map((payload) => jsonPayloadConverter.fromPayload(payload)),
              [1],
              name,
            );
            match((cause!.cause ?? cause!).message, /^circular cause: /, name);
          }
        }, sinks && { sinks });
      }
      ok(lines.includes("Workflow failed"));
    },
  },
];
