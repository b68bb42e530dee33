// `import()` of modules that a literal names: they are of the program as those of import
// declarations are.
import { hasAsyncStorage } from "../../ts/platform/async_context.ts";
import { bundleWorkflows } from "../../ts/realm/mod.ts";
import { openSession } from "../../ts/debug/mod.ts";
import { deepEqual, equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { API, type RealmHarness } from "./realm_host.ts";
import {
  failureOf,
  IMPORTS,
  resultOf,
  type Sources,
  withProgram,
} from "./temporal_program_support.ts";

const SCOPES = hasAsyncStorage()
  ? ["rewritten", "asyncLocalStorage"] as const
  : ["rewritten"] as const;

const PACKAGE: Sources = {
  "/node_modules/lazy/package.json":
    '{ "name": "lazy", "type": "module", "exports": { ".": "./index.js", "./other": "./other.js" } }',
  "/node_modules/lazy/index.js": `export const known = () => import("./other.js");
export const unknown = () => import("./none.js").catch((error) => error.message);
export const computed = (name) => import(name).catch((error) => error.message);`,
  "/node_modules/lazy/other.js": "export const name = 'other';",
  "/node_modules/lazy/none.js": "await null;",
};

const TEMPORAL: Sources = {
  "/app/main.ts": `${IMPORTS}import { seen } from "./notes.ts";
import { computed, known, unknown } from "lazy";
import "lazy/other";
export async function late() {
  const before = [...seen];
  const { name, up } = await import("./late.ts");
  const again = await import(
    \`./late.ts\`
  );
  return { before, name, up: [up(), up()], same: again === await import("./late.ts"), seen };
}
export async function inScope() {
  return await wf.CancellationScope.cancellable(async () => {
    const { scope } = await import("./scoped.ts");
    const own = wf.CancellationScope.current();
    const reaction = await import("./scoped.ts").then(() => wf.CancellationScope.current() === own);
    return [scope === own, reaction];
  });
}
export async function throwing() {
  const told = async () => await import("./throws.ts").then(() => "nothing", (error) => error.message);
  return [await told(), await told()];
}
export async function unhandled() { void import("./throws.ts"); await wf.sleep(1); }
export async function packages() { return [(await known()).name, await unknown(), await computed("./third.js")]; }
export async function common() { return (await (await import("./own.cjs")).default()).name; }
export async function circle() { return (await import("./circle.ts")).ofMain(); }
export const main = "of main";`,
  "/app/notes.ts": "export const seen: string[] = [];",
  "/app/late.ts": `import { seen } from "./notes.ts";
seen.push("late " + Math.random().toFixed(0).length);
let count = 0;
export const name = "late", up = () => ++count;`,
  "/app/scoped.ts": `${IMPORTS}export const scope = wf.CancellationScope.current();`,
  "/app/throws.ts": 'throw new Error("thrown by the module");',
  "/app/own.cjs": 'module.exports = () => import("./late.ts");',
  "/app/circle.ts": 'import { main } from "./main.ts"; export const ofMain = () => main;',
  ...PACKAGE,
};

const NATIVE: Sources = {
  "/app/main.ts": `${API}import { seen } from "./notes.ts";
import { computed, known, unknown } from "lazy";
import "lazy/other";
export const late = workflow("late", async () => {
  const { name } = await import("./late.ts");
  await sleep(1);
  return [name, (await import("./late.ts")).main(), seen.length];
});
export const packages = workflow("packages", async () => [(await known()).name, await unknown(), await computed("./third.js")]);
export const common = workflow("common", async () => (await (await import("./own.cjs")).default()).name);
export const main = "of main";`,
  "/app/notes.ts": "export const seen: readonly string[] = Object.freeze([]);",
  "/app/late.ts":
    'import { main as value } from "./main.ts"; export const name = "late", main = () => value;',
  "/app/own.cjs": 'module.exports = () => import("./late.ts");',
  ...PACKAGE,
};

const NOT_THERE = (name: string) =>
  `import("${name}") is not available in workflow code: use an import declaration, or load it in an activity`;
const OF_PACKAGES = ["other", NOT_THERE("./none.js"), NOT_THERE("./third.js")];

const bundled = async (sources: Sources): Promise<Sources> => ({
  "/app/bundle.js": (await bundleWorkflows({ workflows: "/app/main.ts", sources })).code,
});

async function temporalBehaves(h: RealmHarness): Promise<void> {
  for (let i = 0; i < 2; i++) {
    deepEqual(await resultOf(h, "late"), {
      before: [],
      name: "late",
      up: [1, 2],
      same: true,
      seen: ["late 1"],
    });
  }
  deepEqual(await resultOf(h, "inScope"), [true, true]);
  deepEqual(await resultOf(h, "throwing"), ["thrown by the module", "thrown by the module"]);
  match(await failureOf(h, "unhandled"), /thrown by the module/);
  deepEqual(await resultOf(h, "packages"), OF_PACKAGES);
  equal(await resultOf(h, "common"), "late");
  equal(await resultOf(h, "circle"), "of main");
}

async function nativeBehaves(h: RealmHarness): Promise<void> {
  deepEqual(await resultOf(h, "late"), ["late", "of main", 0]);
  deepEqual(await resultOf(h, "packages"), OF_PACKAGES);
  equal(await resultOf(h, "common"), "late");
}

export const cases: Case[] = [
  ...SCOPES.map((scopes): Case => ({
    name:
      `import(): a module is evaluated when it is first imported, once for each run (${scopes})`,
    async run() {
      for (const sources of [TEMPORAL, await bundled(TEMPORAL)]) {
        await withProgram(sources, temporalBehaves, { scopes });
      }
    },
  })),
  {
    name: "import(): modules of native workflows are evaluated when they are loaded",
    async run() {
      for (const sources of [NATIVE, await bundled(NATIVE)]) {
        await withProgram(sources, nativeBehaves);
      }
      const throwing = { ...NATIVE, "/app/late.ts": '\nthrow new Error("thrown by the module");' };
      match(
        await withProgram(throwing, () => Promise.resolve("loaded"), {}).catch((error: Error) =>
          error.message
        ),
        /\/app\/late\.ts:2.*fails while it is loaded: .*thrown by the module/,
      );
    },
  },
  {
    name: "import(): a debug session steps through it, line by line",
    run: () =>
      withProgram(TEMPORAL, async (h) => {
        const run = h.start("late");
        await run.auto();
        equal(run.failure, "");
        const session = await openSession(run.server.history(), { realm: h.realm });
        equal(session.problem, undefined);
        // The module is one of the session's files, and its lines have run once.
        const code = session.code!;
        const file = code.files.findIndex(({ name }) => name.endsWith("late.ts"));
        equal(code.counts(file, session.length).hits[3], 1);
        const main = TEMPORAL["/app/main.ts"]!.split("\n");
        const of = code.files.findIndex(({ name }) => name.endsWith("main.ts"));
        const { hits } = code.counts(of, session.length);
        equal(hits[main.findIndex((line) => line.includes("return { before, name")) + 1], 1);
      }, { lines: true }),
  },
];
