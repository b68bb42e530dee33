// `temporalex run`: one workflow to its end, in memory and in a store, with everything that can go
// wrong on the way.
// takes: 7 s
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Interrupted } from "../../../ts/cli/frame/errors.ts";
import { open, silentLogger } from "../../../ts/mod.ts";
import { type Result, run as runCommand, type RunOptions } from "./support/run.ts";

const workflows = fileURLToPath(new URL("./flows/workflows.ts", import.meta.url));
const activities = fileURLToPath(new URL("./flows/activities.ts", import.meta.url));
let folder = "";
before(() => (folder = mkdtempSync(join(tmpdir(), "temporalex-run-"))));
after(() => rmSync(folder, { recursive: true, force: true }));

const run = (args: readonly string[], options: RunOptions = {}): Promise<Result> =>
  runCommand(["run", ...args], { cwd: folder, ...options });

test("in memory: the result is on standard output, everything else on standard error", async () => {
  const result = await run([workflows, "--type", "Again", "-i", "2", "-w", "again"]);
  assert.deepEqual([result.code, result.out], [0, '"done"\n']);
  assert.match(
    result.err,
    /^running Again, workflow id again, in memory \(with --store other commands can talk to it\)\n$/,
  );
  const json = await run([workflows, "--type", "Again", "-i", "0", "--json"]);
  const document = JSON.parse(json.out) as { status: string; result: string };
  assert.deepEqual([json.code, json.err, document.status, document.result], [
    0,
    "",
    "COMPLETED",
    "done",
  ]);
});

test("run supports activities, and a module that defines one workflow", async () => {
  writeFileSync(
    join(folder, "pays.ts"),
    `import { activities, workflow } from "temporalex/workflow";
const shop = activities<typeof import("./bank.ts")>({ startToClose: "10s", retry: { maximumAttempts: 2 } });
export const pays = workflow("Pays", async (who: string) => await shop.pay(who));
`,
  );
  writeFileSync(
    join(folder, "bank.ts"),
    "export const pay = async (who: string): Promise<string> => `${who} has paid`;\n",
  );
  assert.equal(
    (await run(["pays.ts", "--activities", "bank.ts", "-i", '"ada"'])).out,
    '"ada has paid"\n',
  );
  const without = await run(["pays.ts", "-i", '"ada"']);
  assert.equal(
    without.code,
    1,
    "nothing will ever bring the activity: the workflow fails instead of waiting",
  );
  assert.match(
    without.err,
    /activity pay failed \(attempt 1\): this worker has no activity "pay"; it has no activities; name its module with --activities\n/,
  );
});

test("run reports failures of the workflow and of its code", async () => {
  const failed = await run([workflows, "--type", "Fails", "--json"]);
  assert.equal(failed.code, 1);
  assert.deepEqual((JSON.parse(failed.out) as { failure: unknown }).failure, {
    name: "ApplicationFailure",
    message: "out of stock",
    type: "OutOfStock",
  });
  const bug = await run([workflows, "--type", "Bug"]);
  assert.equal(bug.code, 1);
  assert.match(bug.err, /workflow task failed \(attempt 1\): this code has a bug\n/);
  assert.match(
    bug.err,
    /temporalex: the workflow cannot continue: this code has a bug\n {2}at .*workflows\.[tj]s:\d+:\d+/,
  );
  assert.match(
    (await run([workflows, "--type", "Bug", "--store", "bug.sqlite", "-w", "b"])).err,
    /The run is kept: fix the code/,
  );
});

test("wrong usage", async () => {
  for (
    const [args, expected] of [
      [[], /<workflows> is missing; see temporalex run --help/],
      [[workflows], /name the workflow with --type; these modules define: .*Cart/],
      [[workflows, "--type", "Crat"], /unknown workflow "Crat"; these modules define: Cart/],
      [["nowhere.ts", "--type", "X"], /nowhere\.ts: no such file/],
      [
        [workflows, "--type", "Cart", "--activities", "nowhere.ts"],
        /module not found: nowhere\.ts/,
      ],
      [[workflows, "--type", "Cart", "-i", "ada"], /--input is not JSON/],
      // A function of a module that imports neither package is a workflow of Temporal's SDK.
      [[activities, "--type", "Cart"], /unknown workflow "Cart"; these modules define: charge/],
    ] as const
  ) {
    const result = await run(args);
    assert.equal(result.code, 2, args.join(" "));
    assert.match(result.err, expected);
    assert.equal((await run([...args, "--json"])).code, 2);
  }
});

test("Ctrl-C leaves the run in its store, and the same command resumes it", async () => {
  const store = join(folder, "kept.sqlite");
  const args = [workflows, "--type", "Slow", "-i", "2000", "-w", "slow-1", "--store", store];
  const controller = new AbortController();
  const first = run(args, {
    interrupt: controller.signal,
    err: (text) =>
      text.startsWith("running") && setTimeout(() => controller.abort(new Interrupted()), 50),
  });
  assert.equal((await first).code, 130);
  assert.ok(existsSync(store) && !existsSync(`${store}-owner`), "the store is closed");
  const second = await run(args);
  assert.deepEqual([second.code, second.out], [0, '"slept"\n'], second.err);
  const shown = await runCommand(["workflow", "list", "--store", store, "--json"]);
  assert.equal((JSON.parse(shown.out) as unknown[]).length, 1, "one run, not two");

  const memory = new AbortController();
  const lost = await run([workflows, "--type", "Slow", "-i", "60000"], {
    interrupt: memory.signal,
    err: (text) => text.startsWith("running") && memory.abort(new Interrupted()),
  });
  assert.equal(lost.code, 130);
});

test("run uses a store that another process has open", async () => {
  const store = join(folder, "held.sqlite");
  const app = await open({
    path: store,
    logger: silentLogger,
    activities: { x: () => 1 },
    serve: false,
  });
  const refused = await run([workflows, "--type", "Slow", "-i", "1", "--store", store]);
  assert.equal(refused.code, 1);
  assert.match(
    refused.err,
    /held\.sqlite is open in process \d+; that one runs its workflows: .*temporalex workflow execute/,
  );
  await app.close();
});
