// `temporalex build`: what it writes and says, and that worker, replay and open take the file, with
// places of the sources.
// takes: 6 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { open } from "../../../ts/mod.ts";
import { silentLogger } from "../../../ts/client/mod.ts";
import { openSession } from "../../../ts/debug/mod.ts";
import { createInlineRealm, createWorkerRealm } from "../../../ts/realm/mod.ts";
import { startCommand } from "./support/process.ts";
import { refusals, run as runCommand } from "./support/run.ts";

// Written so that the build, which renames modules in import declarations, leaves the texts alone.
const ts = ".ts";
const from = (specifier: string) => `from "${specifier}"`;
const WORKFLOWS = `import { ApplicationFailure, sleep } ${from("@temporalio/workflow")};
import type { Order } ${from(`./types${ts}`)};
import { price } ${from(`./price${ts}`)};

export async function order(kind: Order): Promise<string> {
  await sleep(10);
  return price(kind);
}
export async function fails(): Promise<string> {
  return price("nothing");
}
export function refused(): never {
  throw ApplicationFailure.nonRetryable("refused");
}
`;
const PRICE = `import { marked } ${from("marker")};
interface Priced { readonly text: string }

export function price(kind: string): string {
  const priced: Priced = { text: kind };
  if (priced.text === "nothing") throw new RangeError("no price");
  return marked(priced.text);
}
`;

let folder = "";
const run = (args: readonly string[]) => runCommand(args, { cwd: folder });
before(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "temporalex-build-")));
  mkdirSync(join(folder, "src"));
  mkdirSync(join(folder, "node_modules/marker"), { recursive: true });
  writeFileSync(
    join(folder, "package.json"),
    '{"name":"shop","type":"module","temporalex":{"workflows":["src/workflows.ts"]}}',
  );
  writeFileSync(join(folder, "src/workflows.ts"), WORKFLOWS);
  writeFileSync(join(folder, "src/types.ts"), "export type Order = string;\n");
  writeFileSync(join(folder, "src/price.ts"), PRICE);
  writeFileSync(
    join(folder, "node_modules/marker/package.json"),
    '{"name":"marker","version":"1.2.3"}',
  );
  writeFileSync(
    join(folder, "node_modules/marker/index.js"),
    "exports.marked = (text) => `${text}!`;\n",
  );
  const built = await run(["build"]);
  assert.equal(built.code, 0, built.err);
});
after(() => rmSync(folder, { recursive: true, force: true }));

test("temporalex build writes one file and reports its contents", async () => {
  const file = join(folder, "workflows.bundle.js");
  const first = readFileSync(file);
  const result = await run([
    "build",
    "--workflows",
    "src/workflows.ts",
    "--out",
    "out/b.js",
    "--json",
  ]);
  assert.equal(result.code, 0, result.err);
  const { file: path, bytes, sha256, workflowTypes, packages, modules } = JSON.parse(result.out);
  assert.deepEqual(readFileSync(path), first, "the same bytes");
  assert.deepEqual([path, bytes, workflowTypes], [join(folder, "out/b.js"), first.length, [
    "order",
    "fails",
    "refused",
  ]]);
  assert.match(sha256, /^[0-9a-f]{64}$/);
  assert.deepEqual(packages, [{ name: "marker", modules: 1, bytes: 39 }]);
  assert.equal(modules.length, 3);
  assert.ok(!existsSync(join(folder, "out/b.js.unfinished")));
  const text = await run(["build", "--output", "text"]);
  assert.match(
    text.out,
    /Modules of +Modules +Size\n[\s\S]*your own +2 [\s\S]*marker +1 +39 bytes\nworkflows: order, fails, refused\nwrote workflows\.bundle\.js, \d/,
  );
  const piped = await run(["build", "--out", "-"]);
  assert.equal(piped.out, first.toString());
});

test("open accepts the bundle; stack traces, debug sessions and replay name lines of the sources", async () => {
  const file = join(folder, "workflows.bundle.js");
  const app = await open({ workflows: file, logger: silentLogger });
  try {
    const order = await app.client.start<string>("order", { id: "o-1", args: ["box"] });
    assert.equal(await order.result(), "box!");
    await app.client.start("fails", { id: "f-1", args: [] });
    const failed = app.client.getHandle(undefined, "f-1");
    const end = async () =>
      JSON.stringify(
        await failed.fetchHistory(),
        (_, v) => (typeof v === "bigint" ? String(v) : v),
      );
    const deadline = Date.now() + 20_000;
    while (!(await end()).includes("no price") && Date.now() < deadline) {
      await new Promise((r) => setTimeout(r, 50));
    }
    assert.match(await end(), /bundle:\/\/\/src\/price\.ts:6:/);
    assert.match(await end(), /bundle:\/\/\/src\/workflows\.ts:10:/);
  } finally {
    await app.close();
  }
});

test("replay checks histories with the bundle", async () => {
  const store = join(folder, "r.sqlite");
  const app = await open({
    path: store,
    workflows: join(folder, "workflows.bundle.js"),
    logger: silentLogger,
  });
  await app.client.execute("order", { id: "o-1", args: ["box"] });
  await app.close();
  const shown = await run(["workflow", "show", "--store", store, "-w", "o-1", "--json"]);
  const history = join(folder, "o-1.json");
  writeFileSync(history, shown.out);
  const ok = await run(["replay", "--workflows", "workflows.bundle.js", history, "--json"]);
  assert.equal(JSON.parse(ok.out.split("\n")[0]!).verdict, "ok", ok.out);
  const realm = await createWorkerRealm({ workflows: join(folder, "workflows.bundle.js") });
  const session = await openSession(new TextEncoder().encode(shown.out), { realm });
  assert.equal(session.problem, undefined);
  await realm.dispose();

  writeFileSync(
    join(folder, "src/changed.ts"),
    WORKFLOWS.replace("await sleep(10)", "await sleep(10); await sleep(20)"),
  );
  assert.equal(
    (await run(["build", "--workflows", "src/changed.ts", "--out", "changed.js"])).code,
    0,
  );
  const other = await run(["replay", "--workflows", "changed.js", history, "--json"]);
  const line = JSON.parse(other.out.split("\n")[0]!);
  assert.equal(line.verdict, "nondeterminism");
  assert.match(line.error.location, /src\/changed\.ts:6/);
  const annotated = await run(["replay", "--workflows", "changed.js", history, "--github"]);
  assert.match(annotated.out + annotated.err, /^::error file=src\/changed\.ts,line=6/m);
});

test("worker runs the bundle with separate interceptors; the stack of a run names source lines", async () => {
  const marks = `export const interceptors = () => ({
  inbound: [{ execute: async (input, next) => \`\${await next(input)} (marked)\` }],
});
`;
  writeFileSync(join(folder, "src/marks.js"), marks);
  writeFileSync(join(folder, "src/slow.ts"), WORKFLOWS.replace("sleep(10)", "sleep('1 hour')"));
  assert.equal((await run(["build", "--workflows", "src/slow.ts", "--out", "slow.js"])).code, 0);
  const cases = [["workflows.bundle.js", "order"], ["slow.js", "slow"]] as const;
  for (const [bundle, name] of cases) {
    const store = join(folder, `${name}.sqlite`);
    const worker = startCommand(
      [
        "worker",
        "--store",
        store,
        "--workflows",
        bundle,
        "--interceptors",
        "src/marks.js",
        "--json",
      ],
      folder,
    );
    try {
      await worker.line("started", ({ event }) => event === "started");
      const at = ["--store", store, "-w", name, "--json"];
      assert.equal(
        (await run(["workflow", "start", "--type", "order", "-i", '"box"', ...at])).code,
        0,
      );
      if (name === "order") {
        assert.match((await run(["workflow", "result", ...at])).out, /box! \(marked\)/);
      } else {
        assert.match((await run(["workflow", "stack", ...at])).out, /src\/slow\.ts:6:/);
      }
    } finally {
      await worker.end("SIGTERM");
    }
  }
});

test("a bundling error names file and line, and nothing is written", async () => {
  const refused = refusals(run);
  const write = (name: string, text: string) => writeFileSync(join(folder, "src", name), text);
  await refused(
    2,
    /module not found: .*src\/none\.ts/,
    "build",
    "--workflows",
    "src/none.ts",
    "--out",
    "no.js",
  );
  write("lost.ts", `import { gone } ${from("gone")};\nexport async function a() { gone(); }`);
  await refused(
    1,
    /src\/lost\.ts:1: imports "gone", which is in no node_modules folder/,
    "build",
    "--workflows",
    "src/lost.ts",
    "--out",
    "no.js",
  );
  write(
    "name.ts",
    `import { prices } ${from(`./price${ts}`)};\nexport async function a() { prices(); }`,
  );
  await refused(
    1,
    /src\/name\.ts:1: imports "prices" from "\.\/price\.ts", which does not export it/,
    "build",
    "--workflows",
    "src/name.ts",
    "--out",
    "no.js",
  );
  write("throws.ts", "export const a = 1;\nnull.x;\nexport async function b() {}");
  await refused(
    1,
    /src\/throws\.ts:2:\d+: fails while it is loaded: TypeError/,
    "build",
    "--workflows",
    "src/throws.ts",
    "--out",
    "no.js",
  );
  write("none.js", "export const a = 1;");
  await refused(
    1,
    /none\.js exports no workflow/,
    "build",
    "--workflows",
    "src/none.js",
    "--out",
    "no.js",
  );
  await refused(
    1,
    /is a bundle already/,
    "build",
    "--workflows",
    "workflows.bundle.js",
    "--out",
    "no.js",
  );
  await refused(
    2,
    /workflows\.bundle\.js is a bundle of `temporalex build`: lint the modules/,
    "lint",
    "workflows.bundle.js",
  );
  assert.ok(!existsSync(join(folder, "no.js")));
});

test("an inline realm rejects bundles and programs of @temporalio/workflow with advice", async () => {
  const file = join(folder, "workflows.bundle.js");
  await assert.rejects(
    open({ workflows: file, worker: { realm: "inline" }, logger: silentLogger }),
    /workflows\.bundle\.js is a workflow bundle, which a realm in a thread loads: leave out realm: "inline"/,
  );
  const functions = { order: () => Promise.resolve() };
  await assert.rejects(
    createInlineRealm({ workflows: functions }),
    /or the text of a bundle \(`temporalex build`\) as `sources`/,
  );
  const app = await open({
    workflows: "/bundle.js",
    worker: { sources: { "/bundle.js": readFileSync(file, "utf8") } },
    logger: silentLogger,
  });
  assert.equal(await app.client.execute("order", { id: "text-1", args: ["box"] }), "box!");
  await app.close();
});
