// Code that a package makes from text (decision 057): protobufjs may, for both kinds of programs,
// and what it makes is under the same guard.
import { equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { API, type RealmHarness } from "./realm_host.ts";
import {
  failureOf,
  IMPORTS,
  refusals,
  resultOf,
  type Sources,
  withProgram,
} from "./temporal_program_support.ts";

const maker = (name: string): Sources => ({
  [`/node_modules/${name}/package.json`]: `{ "name": "${name}", "main": "index.js" }`,
  [`/node_modules/${name}/index.js`]: `module.exports = function (text, names, values) {
  return names === undefined ? Function(text)() : Function.apply(null, names.concat(text)).apply(null, values);
};`,
});
const USES = `import make from "@protobufjs/codegen";
import newer from "protobufjs";
import other from "another";
const sum = (a: number) => make("return function (b) {\\n  return a + b + c\\n}", ["a", "c"], [a, 100])(10);
const fields = () => newer("return function (m) { return m[\\"import\\"] + m.reimport + 'import: no' + \\"import.\\" }")({ import: "i", reimport: "r" });
const loads = ["import('x')", "import /* a */ ('x')", "import\\n('x')", "import.source('x')", "import <!-- x\\n('x')"];
const fromText = (text: string) => make("return function () { return " + text + " }")();
const shares = () => { try { fromText("globalThis.seenByAll = 1"); } catch { /* it is frozen */ } return fromText("typeof globalThis.seenByAll"); };
`;
const PACKAGES: Sources = {
  ...maker("@protobufjs/codegen"),
  ...maker("protobufjs"),
  ...maker("another"),
};
const OFFICIAL: Sources = {
  "/app/main.ts": `${IMPORTS}${USES}
export async function works() { await wf.sleep(1); return [sum(1), fields(), fromText("Math.random()") !== fromText("Math.random()")].join(); }
export async function imports(n: number) { fromText(loads[n]!); }
export async function fetches() { fromText("fetch('http://localhost')"); }
export async function nested() { fromText("Function('return 1')()"); }
export async function strange() { other("return 1"); }
export async function own() { Function("return 1"); }
export async function shared() { return shares(); }`,
  ...PACKAGES,
};
const NATIVE: Sources = {
  "/app/main.ts": `${API}${USES}
export const works = workflow("works", async () => {
  await sleep(1);
  return [sum(1), fields(), fromText("Math.random()") !== fromText("Math.random()")].join();
});
export const imports = workflow("imports", async (n: number) => { fromText(loads[n]!); });
export const fetches = workflow("fetches", async () => { fromText("fetch('http://localhost')"); });
export const nested = workflow("nested", async () => { fromText("Function('return 1')()"); });
export const strange = workflow("strange", async () => { other("return 1"); });
export const own = workflow("own", async () => { Function("return 1"); });
export const shared = workflow("shared", async () => shares());`,
  ...PACKAGES,
};

async function behaves(h: RealmHarness): Promise<void> {
  equal(await resultOf(h, "works"), "111,irimport: noimport.,true");
  for (let n = 0; n < 5; n++) {
    const run = h.start("imports", { args: [n] });
    await run.auto();
    match(
      run.failure,
      /^(?:Determinism\w*: )?Function\(\) is not available in workflow code: code made from text could load modules/,
    );
  }
  match(await failureOf(h, "fetches"), /fetch\(\) is not available/);
  match(await failureOf(h, "nested"), /Function\(\) is not available/);
  match(await failureOf(h, "strange"), /Function\(\) is not available/);
  match(await failureOf(h, "own"), /Function\(\) is not available/);
  equal(await resultOf(h, "shared"), "undefined");
}

export const cases: readonly Case[] = [
  {
    name: "code from text: protobufjs, in programs of @temporalio/workflow",
    run: () => withProgram(OFFICIAL, behaves),
  },
  {
    name: "code from text: protobufjs, in native workflows",
    run: () => withProgram(NATIVE, behaves),
  },
  {
    name: "code from text: missing @temporalio/proto is reported with advice",
    run: async () => {
      const [said] = await refusals({
        "/app/main.ts":
          'import { temporal } from "@temporalio/proto";\nexport const w = () => temporal;',
      });
      match(
        said!,
        /main\.ts:1 not-found .*"@temporalio\/proto", which is in no node_modules .*npm install @temporalio\/proto/,
      );
    },
  },
];
