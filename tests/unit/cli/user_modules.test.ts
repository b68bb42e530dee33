// Modules of the user, given by path: TypeScript with what people write in it, what is missing,
// what is broken.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { UsageError } from "../../../ts/cli/frame/errors.ts";
import { importActivities, importModule } from "../../../ts/cli/modules/user_modules.ts";
import * as common from "../../../ts/compat/common/mod.ts";
import * as own from "../../../ts/activity/mod.ts";

const inDeno = "Deno" in globalThis;

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "temporalex-modules-"));
  mkdirSync(join(folder, "lib"));
  writeFileSync(
    join(folder, "activities.ts"),
    `import type { Order } from "./lib/order.ts";
import { price, Currency } from "./lib/order.ts";
import { join } from "node:path";
class Till { constructor(private readonly name: string) {} show(): string { return this.name; } }
export async function charge(order: Order): Promise<string> {
  return \`\${price(order as Order)!} \${Currency[Currency.EUR]} \${new Till("till").show()} \${join("a", "b")}\`;
}
export const RATE: number = 3;
export default { refund: (id: string): string => "refunded " + id };
`,
  );
  writeFileSync(
    join(folder, "lib/order.ts"),
    `export interface Order { cents: number }
export enum Currency { EUR, USD }
export const price = <T extends Order>(order: T): number => order.cents satisfies number;
`,
  );
  writeFileSync(join(folder, "broken.ts"), "export const = 1;");
  writeFileSync(join(folder, "throws.ts"), 'throw new Error("no database");');
  writeFileSync(join(folder, "broken.mjs"), "export const a = 1;\nconst b = ;");
  writeFileSync(
    join(folder, "imports_throws.ts"),
    'import "./throws.ts";\nexport const f = () => 1;',
  );
  writeFileSync(
    join(folder, "links.ts"),
    'export const f = () => 1;\nexport { Missing } from "./lib/order.ts";',
  );
  writeFileSync(join(folder, "nothing.ts"), "export const x = 1;");
  writeFileSync(join(folder, "imports.ts"), 'import "./nowhere.ts";');
  writeFileSync(join(folder, "plain.mjs"), "export const ping = () => 'pong';");
});
after(() => rmSync(folder, { recursive: true, force: true }));

test("TypeScript modules with enums, types and imports load", async () => {
  const activities = await importActivities(folder, ["activities.ts", "plain.mjs"]);
  const all = Object.assign({}, ...activities) as { [name: string]: (arg?: unknown) => unknown };
  assert.equal(await all["charge"]!({ cents: 5 }), "5 EUR till a/b");
  assert.equal(all["refund"]!("7"), "refunded 7");
  assert.equal(all["ping"]!(), "pong");
});

// Deno resolves packages by itself; our hooks are Node's.
const inNode = inDeno ? () => {} : test;
inNode(
  "in a folder without the package, `temporalex` resolves to the package of the running program",
  async () => {
    writeFileSync(join(folder, "uses.ts"), 'export { activityInfo } from "temporalex/activity";');
    const { activityInfo } = await importModule(folder, "uses.ts");
    assert.equal(activityInfo, own.activityInfo);
    writeFileSync(
      join(folder, "uses_js.ts"),
      'export { price } from "./lib/order.js";\nexport { Currency } from "./lib/order";',
    );
    const module = await importModule(folder, "uses_js.ts");
    assert.equal(typeof module["price"], "function");
  },
);

inNode("the error for TypeScript that needs `require` advises compiling it", async () => {
  writeFileSync(
    join(folder, "common.ts"),
    'export const path: string = require.resolve("./plain.mjs");',
  );
  await assert.rejects(
    importModule(folder, "common.ts"),
    /common\.ts cannot be loaded: .*require is not defined.*; TypeScript is loaded as ES modules: name the JavaScript that it is compiled to$/s,
  );
});

inNode(
  "imports of the official SDK resolve to this package, in ES modules and in CommonJS",
  async () => {
    writeFileSync(
      join(folder, "official.ts"),
      'export { ApplicationFailure } from "@temporalio/common";\nexport { old } from "./old.cjs";',
    );
    writeFileSync(
      join(folder, "old.cjs"),
      'exports.old = () => require("@temporalio/common/lib/encoding").encode("ab").length;',
    );
    const { ApplicationFailure, old } = await importModule(folder, "official.ts") as {
      ApplicationFailure: unknown;
      old(): unknown;
    };
    assert.equal(ApplicationFailure, common.ApplicationFailure);
    assert.equal(old(), 2);
  },
);

test("a module that cannot be loaded is reported by name", async () => {
  for (
    const [path, expected] of [
      ["nowhere.ts", /module not found: nowhere\.ts/],
      ["https://example.com/a.ts", /cannot load https:.*expected a path or a file URL, not https:/],
      [
        "broken.ts",
        inDeno
          ? /broken\.ts cannot be loaded: /
          : /broken\.ts cannot be loaded: \S+broken\.ts:1:\d+: /,
      ],
      [
        "broken.mjs",
        inDeno
          ? /broken\.mjs cannot be loaded: /
          : /broken\.mjs cannot be loaded: \S+broken\.mjs:2:11: /,
      ],
      ["throws.ts", /throws\.ts cannot be loaded: \S+throws\.ts:1: no database/],
      ["imports_throws.ts", /imports_throws\.ts cannot be loaded: \S+throws\.ts:1: no database/],
      ["links.ts", inDeno ? /Missing/ : /links\.ts cannot be loaded: \S+links\.ts:2: .*Missing/],
      ["imports.ts", /imports\.ts cannot be loaded: .*nowhere/],
      ["nothing.ts", /exports no function/],
    ] as const
  ) {
    await assert.rejects(importActivities(folder, [path]), (e) => {
      assert.ok(e instanceof UsageError, String(e));
      assert.match(e.message, expected);
      return true;
    });
  }
});
