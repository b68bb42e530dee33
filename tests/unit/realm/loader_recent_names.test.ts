// Names that Node 20 or 22 lacks are warned of, in both kinds of programs, with the line.
import assert from "node:assert/strict";
import test from "node:test";
import { lintWorkflows } from "../../../ts/modules/lint/lint.ts";
import { mapSources } from "../../../ts/modules/loader/source_host.ts";
import { warnings } from "./loader_support.ts";

const module = (expression: string): string =>
  `import { workflow } from "temporalex/workflow";
export const w = workflow("w", async (x: any, y: any) => {
  await Promise.resolve();
  return ${expression};
});`;

const temporal = (expression: string): string =>
  `import { sleep } from "@temporalio/workflow";
export async function w(x: any, y: any) {
  await sleep(1);
  return ${expression};
}`;

const FOUND: { readonly [expression: string]: string } = {
  "await Array.fromAsync(x)": "Array.fromAsync",
  "Promise.try(() => x)": "Promise.try",
  "Promise.withResolvers()": "Promise.withResolvers",
  "Object.groupBy(x, (e: any) => e)": "Object.groupBy",
  "RegExp.escape(x)": "RegExp.escape",
  "new Float16Array(x)": "Float16Array",
  "Math.sumPrecise(x)": "Math.sumPrecise",
  "Temporal.Now.instant()": "Temporal",
  "Iterator.from(x)": "Iterator",
  "new DisposableStack()": "DisposableStack",
  "x instanceof SuppressedError": "SuppressedError",
  "new Set(x).union(y)": "Set.prototype.union()",
  "x.isSubsetOf(y)": "isSubsetOf()",
  "x.values().map(y)": "Iterator.prototype.map()",
  "x.matchAll(y).toArray()": "Iterator.prototype.toArray()",
  "new Uint8Array(x).toBase64()": "Uint8Array.prototype.toBase64()",
  "new Map().getOrInsert(x, y)": "Map.prototype.getOrInsert()",
};
for (const [expression, name] of Object.entries(FOUND)) {
  test(`warned of: ${expression}`, async () => {
    const text = module(expression);
    const [warning, ...more] = warnings({ "/app/main.ts": text });
    assert.deepEqual(more, []);
    assert.ok(
      warning?.startsWith(`/app/main.ts:4 [recent-name] ${name}: uses ${name}: Node 20`),
      warning,
    );
    for (const source of [text, temporal(expression)]) {
      const { findings } = await lintWorkflows(["file:///app/main.ts"], {
        host: mapSources({ "/app/main.ts": source }),
      });
      assert.deepEqual(
        findings.filter(({ rule }) => rule === "recent-name").map(({ line }) => line),
        [4],
        JSON.stringify(findings),
      );
    }
  });
}

const NOT_FOUND = [
  'typeof Float16Array === "undefined" ? x : new Float16Array(x)',
  "Promise.try?.(() => x)",
  '"fromAsync" in Array ? Array.fromAsync(x) : y',
  "x.union(y)",
  "x.getOrInsert(y)",
  "x.toHex()",
  "Object.keys(x).map(y)",
  "Object.values(x).filter(y)",
  "[...x.values()].map(y)",
  "((Temporal: any) => Temporal.x)(x)",
  "Array.from(x)",
];
for (const expression of NOT_FOUND) {
  test(`not warned of: ${expression}`, () =>
    assert.deepEqual(warnings({ "/app/main.ts": module(expression) }), []));
}
