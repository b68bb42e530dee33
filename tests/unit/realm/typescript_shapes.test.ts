// Shapes of TypeScript modules give the values of the official bundler, or are rejected with file
// and line: in the workflow loader, in bundles, and in activities that the command line loads.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { importModule } from "../../../ts/cli/modules/user_modules.ts";
import { rewriteHelper } from "../../../ts/compat/rewritten.ts";
import { buildBundle } from "../../../ts/modules/bundle/build.ts";
import { EvaluableGraph, type Namespace } from "../../../ts/modules/loader/evaluate.ts";
import { loadGraph } from "../../../ts/modules/loader/graph.ts";
import type { ModuleGraph } from "../../../ts/modules/loader/module_graph.ts";
import { mapSources } from "../../../ts/modules/loader/source_host.ts";
import { loadSucrase } from "../../../ts/modules/loader/strip.ts";
import { loadSources } from "../../../ts/modules/sources.ts";
import { CLASS_SHAPES } from "./typescript_class_shapes.ts";
import { OTHER_SHAPES } from "./typescript_other_shapes.ts";
import type { ShapeLoader, TypeScriptShape } from "./typescript_shape.ts";

await loadSucrase();

const SHAPES = [...CLASS_SHAPES, ...OTHER_SHAPES];
const inDeno = "Deno" in globalThis;

const mainOf = ({ main = "main.ts" }: TypeScriptShape): string => main;

function filesOf(shape: TypeScriptShape): { [name: string]: string } {
  return { [mainOf(shape)]: shape.text, ...shape.files };
}

function evaluated(graph: ModuleGraph, form: "shared" | "run"): Namespace {
  const evaluable = new EvaluableGraph(graph, {
    provided: {},
    evaluate: (code) => (0, eval)(code),
  });
  if (form === "shared") return evaluable.evaluateShared({ turnTo() {}, left() {} })[0]!;
  const globals = { global: globalThis, lookup: globalThis };
  return evaluable.evaluateForRun({ globals, helper: rewriteHelper() }).workflows()[0]!;
}

async function valueOf(namespace: Namespace): Promise<string | undefined> {
  const main = namespace["main"] as (() => unknown) | undefined;
  return JSON.stringify(main === undefined ? namespace : await main());
}

/** As workflow code. `scopes`: without AsyncLocalStorage. */
function fromLoader(
  shape: TypeScriptShape,
  form: "shared" | "run",
  restoreFrames = false,
): Promise<string | undefined> {
  const files = Object.fromEntries(
    Object.entries(filesOf(shape)).map(([name, text]) => [`/app/${name}`, text]),
  );
  const graph = loadGraph([`file:///app/${mainOf(shape)}`], {
    host: mapSources(files),
    provided: () => [],
    restoreFrames,
    ...(form === "shared" && { once: [0] }),
  });
  return valueOf(evaluated(graph, form));
}

async function fromBundle(shape: TypeScriptShape): Promise<string | undefined> {
  const workflows = `/${mainOf(shape)}`;
  const sources = Object.fromEntries(
    Object.entries(filesOf(shape)).map(([name, text]) => [`/${name}`, text]),
  );
  const { code } = await buildBundle({ workflows, sources });
  const { graph } = await loadSources({ workflows: "/bundle.js", sources: { "/bundle.js": code } });
  return await valueOf(evaluated(graph, "run"));
}

async function fromActivities(shape: TypeScriptShape): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-shapes-"));
  try {
    for (const [name, text] of Object.entries(filesOf(shape))) {
      writeFileSync(join(folder, name), text);
    }
    return await valueOf(await importModule(folder, mainOf(shape)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function judge(
  shape: TypeScriptShape,
  loader: ShapeLoader,
  load: () => Promise<string | undefined>,
): Promise<void> {
  const part = shape.rejected?.[loader];
  if (part === undefined) return assert.equal(await load(), shape.value);
  await assert.rejects(async () => await load(), (e: Error) => {
    assert.ok(e.message.includes(part), e.message);
    assert.match(e.message, new RegExp(`\\bmain\\.tsx?:${shape.line ?? 1}(?::\\d+)?: `));
    return true;
  });
}

for (const shape of SHAPES) {
  test(`native workflow code: ${shape.name}`, () =>
    judge(shape, "shared", async () => await fromLoader(shape, "shared")));
  test(`a program of @temporalio/workflow: ${shape.name}`, () =>
    judge(shape, "run", async () => await fromLoader(shape, "run")));
  test(`in a bundle: ${shape.name}`, () => judge(shape, "run", () => fromBundle(shape)));
  // Deno loads activities itself.
  if (!inDeno) {
    test(`activities: ${shape.name}`, () => judge(shape, "activity", () => fromActivities(shape)));
  }
}

test("the shapes without AsyncLocalStorage", async () => {
  for (const shape of SHAPES) {
    if (shape.rejected?.run === undefined) {
      assert.equal(await fromLoader(shape, "run", true), shape.value, shape.name);
    }
  }
});

const REJECTED: readonly (readonly [what: string, text: string, part: string, line: number])[] = [
  [
    "a computed field name that changes",
    'let k = "a";\nclass A {\n  [k] = 1;\n  constructor(readonly n: number) {}\n}\nk = "b";\nexport const main = () => new A(1);',
    "computed name",
    3,
  ],
  [
    "using at the top level",
    "export const a = 1;\nusing x = { [Symbol.dispose]() {} };",
    "at the top level of a module",
    2,
  ],
  [
    "using in the head of a loop",
    "export function main() {\n  for (using x = null; ;) return x;\n}",
    "in the head of a `for` loop",
    2,
  ],
];

for (const [what, text, part, line] of REJECTED) {
  const shape: TypeScriptShape = { name: what, text };
  const isIt = (e: Error) => {
    assert.ok(e.message.includes(part) && e.message.includes(`main.ts:${line}:`), e.message);
    return true;
  };
  test(`rejected with its line: ${what}`, async () => {
    await assert.rejects(async () => await fromLoader(shape, "run"), isIt);
    if (!inDeno) await assert.rejects(() => fromActivities(shape), isIt);
  });
}

test("a namespace in a comment, a string or a declaration is not code", async () => {
  const text = `// namespace A { const x = 1; }
/*
 * namespace B { const y = 2; }
 */
const text = "namespace C { const z = 3; }", more = \`
namespace D { const w = 4; }\`;
declare global {
  namespace E { const v: number; }
}
declare module "m" { namespace F { function u(): void; } }
export const main = () => text.length + more.length;`;
  assert.equal(await fromLoader({ name: "", text }, "run"), "57");
});
