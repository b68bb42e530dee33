// `temporalex workflow ...`: every command on a store that a process holds, and on one that nobody holds: text, JSON, mistakes.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Interrupted } from "../../ts/cli/frame/errors.ts";
import { type App, open, silentLogger } from "../../ts/mod.ts";
import * as activities from "./flows/activities.ts";
import { refusals, type Result, run as runCommand, type RunOptions } from "./support/run.ts";
import { until } from "../support/until.ts";
import { together } from "../support/together.ts";

const workflows = new URL("./flows/workflows.ts", import.meta.url);
let folder = "", store = "";
let app: App;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "temporalex-cli-"));
  store = join(folder, "held.sqlite");
  app = await open({ path: store, workflows, activities, logger: silentLogger });
  assert.equal(await app.served, `${store}-socket`);
});
after(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

type Json = { [name: string]: unknown };

const run = (args: readonly string[], options: RunOptions = {}): Promise<Result> =>
  runCommand(["workflow", ...args], { cwd: folder, env: { TEMPORALEX_STORE: store }, ...options });
async function ok(...args: string[]): Promise<string> {
  const result = await run(args);
  assert.equal(result.code, 0, `${args.join(" ")}: ${result.err}`);
  return result.out;
}
async function json(...args: string[]): Promise<Json> {
  return JSON.parse(await ok(...args, "--json")) as Json;
}
const refused = refusals(run);
const cart = (id: string, ...more: string[]) => json("start", "--type", "Cart", "-w", id, "-i", '"ada"', ...more);

test("start", async () => {
  const text = await ok("start", "--type", "Cart", "--workflow-id", "start-1", "--input", '"ada"');
  assert.match(text, /^WorkflowId +start-1\nRunId +[\w-]{36}\nType +Cart\nTaskQueue +default\nWhere +store .*held\.sqlite\n$/);
  const started = await cart("start-2", "-i", "12345678901234567890", "--memo", 'who="ada"', "--execution-timeout", "1h");
  assert.deepEqual({ ...started, runId: "" }, {
    workflowId: "start-2",
    runId: "",
    type: "Cart",
    taskQueue: "default",
    namespace: "default",
  });
  // As it was written: a number that JavaScript cannot hold is still that number.
  const history = JSON.parse(await ok("show", "-w", "start-2", "--json")) as {
    events: [{ workflowExecutionStartedEventAttributes: Json }];
  };
  const { input, memo } = history.events[0].workflowExecutionStartedEventAttributes as {
    input: { payloads: { data: string }[] };
    memo: { fields: { who: { data: string } } };
  };
  assert.deepEqual(input.payloads.map(({ data }) => atob(data)), ['"ada"', "12345678901234567890"]);
  assert.equal(atob(memo.fields.who.data), '"ada"');
  assert.match(String((await json("start", "--type", "Nothing"))["workflowId"]), /^[\w-]{36}$/, "an id is made");

  await refused(1, /start-1 exists already \(run .*--id-conflict-policy UseExisting/, "start", "--type", "Cart", "-w", "start-1");
  const joined = await cart("start-1", "--id-conflict-policy", "UseExisting");
  assert.equal(joined["runId"], /RunId +(\S+)/.exec(text)![1]);
  await refused(2, /--input is not JSON: .*a text needs its own quotes: --input '"ada"'/, "start", "--type", "Cart", "-i", "ada");
  await refused(2, /--type <name> is missing/, "start", "-w", "x");
  await refused(2, /--input and --input-file/, "start", "--type", "Cart", "-i", "1", "--input-file", "x");
  await refused(2, /nowhere\.json cannot be read/, "start", "--type", "Cart", "--input-file", "nowhere.json");
  await refused(2, /--memo is written key=value/, "start", "--type", "Cart", "--memo", "x");
  await refused(2, /--store and --address contradict/, "start", "--type", "Cart", "--store", store, "--address", "localhost:1");
});

test("input from files, standard input, in base64 and in other encodings", async () => {
  writeFileSync(join(folder, "ada.json"), '"ada"');
  await ok("start", "--type", "Cart", "-w", "input-1", "--input-file", "ada.json");
  const piped = await run(["start", "--type", "Cart", "-w", "input-2", "--input-file", "-"], { input: '"bob"' });
  assert.equal(piped.code, 0, piped.err);
  await ok("start", "--type", "Cart", "-w", "input-3", "-i", btoa('"eve"'), "--input-base64");
  await ok("start", "--type", "Cart", "-w", "input-4", "-i", "secret", "--input-meta", "encoding=binary/encrypted");
  const first = async (id: string) => /Cart\((.*)\) on/.exec(await ok("show", "-w", id))![1];
  assert.deepEqual(await Promise.all(["input-1", "input-2", "input-3"].map(first)), ['"ada"', '"bob"', '"eve"']);
  assert.match((await first("input-4"))!, /binary\/encrypted/, "what cannot be decoded is shown, not hidden");
  await refused(2, /is not base64/, "start", "--type", "Cart", "-i", "***", "--input-base64");
});

test("update-with-start on a store: starts the workflow, then takes the one that runs", async () => {
  const more = ["--type", "Cart", "-w", "first-item", "-i", '"ada"', "--update-name", "add_item"];
  const first = await json("update-with-start", ...more, "--update-input", '"BOOK"');
  assert.equal(first["result"], 1);
  const second = await json("update-with-start", ...more, "--update-input", '"PEN"');
  assert.deepEqual([second["result"], second["runId"]], [2, first["runId"]]);
});

test("update, query, signal, result, execute", async () => {
  await cart("talk-1");
  assert.equal(await ok("query", "-w", "talk-1", "--name", "status"), '"open"\n');
  assert.deepEqual(await json("query", "-w", "talk-1", "--type", "status", "-i", "true"), {
    workflowId: "talk-1",
    name: "status",
    result: "OPEN",
  });
  await refused(1, /query "stauts" failed: Unknown query/, "query", "-w", "talk-1", "--name", "stauts");
  await refused(1, /workflow not found.*nobody/, "query", "-w", "nobody", "--name", "status");

  const stack = await ok("stack", "-w", "talk-1");
  assert.match(stack, /^run of workflow "Cart": receive\n {4}at run \(.*flows\/workflows\.[jt]s:\d+:\d+\)\n$/);
  assert.deepEqual(await json("stack", "-w", "talk-1"), { workflowId: "talk-1", stackTrace: stack.trimEnd() });
  const enhanced = await json("stack", "-w", "talk-1", "--enhanced") as { stacks: { locations: Json[] }[] };
  assert.match(String(enhanced.stacks[0]!.locations[0]!["file_path"]), /flows\/workflows\.[jt]s$/);
  assert.match(
    await ok("metadata", "-w", "talk-1"),
    /^Type {2}Cart\n\nSignals\ncheckout\n\nUpdates\nadd_item\n\nQueries\nstatus\n$/,
  );
  const { definition, currentDetails } = await json("metadata", "-w", "talk-1") as { definition: Json; currentDetails: string };
  assert.deepEqual([definition["type"], definition["updateDefinitions"], currentDetails], ["Cart", [{ name: "add_item" }], ""]);
  await refused(1, /workflow not found.*nobody/, "stack", "-w", "nobody");
  await refused(2, /--workflow-id/, "metadata");

  assert.equal(await ok("update", "-w", "talk-1", "--name", "add_item", "-i", '"BOOK"'), "1\n");
  const added = await json("update", "execute", "-w", "talk-1", "--name", "add_item", "-i", '"PEN"', "--update-id", "u2");
  assert.deepEqual(added, { workflowId: "talk-1", updateId: "u2", name: "add_item", result: 2 });
  assert.deepEqual(
    await json("update", "execute", "-w", "talk-1", "--name", "add_item", "-i", '"PEN"', "--update-id", "u2"),
    added,
  );
  assert.equal(
    (await json("update", "start", "-w", "talk-1", "--name", "add_item", "-i", '"INK"', "--update-id", "u3"))["stage"],
    "ACCEPTED",
  );
  assert.match(
    await ok("update", "start", "-w", "talk-1", "--name", "add_item", "-i", '"CUP"', "--update-id", "u4"),
    /^UpdateId +u4\n/,
  );
  assert.equal(await ok("update", "result", "-w", "talk-1", "--update-id", "u3"), "3\n");
  assert.equal((await json("update", "result", "-w", "talk-1", "--update-id", "u4"))["result"], 4);
  await refused(1, /rejected the update: an item needs a name/, "update", "-w", "talk-1", "--name", "add_item", "-i", '""');
  await refused(1, /rejected the update: .*accepts these updates: add_item/, "update", "-w", "talk-1", "--name", "ad_item");
  await refused(1, /not found/i, "update", "result", "-w", "talk-1", "--update-id", "u9", "--timeout", "1s");

  await refused(
    1,
    /was not answered before the deadline; give it a longer --timeout/,
    "result",
    "-w",
    "talk-1",
    "--timeout",
    "50ms",
  );
  assert.equal(await ok("signal", "-w", "talk-1", "--name", "checkout"), "signalled talk-1\n");
  const receipt = { receipt: "ada pays for BOOK and PEN and INK and CUP", discount: 0 };
  assert.deepEqual(JSON.parse(await ok("result", "-w", "talk-1")), receipt);
  assert.deepEqual(await json("result", "-w", "talk-1"), { workflowId: "talk-1", status: "COMPLETED", result: receipt });
  await refused(1, /already completed/, "signal", "-w", "talk-1", "--name", "checkout");
  await refused(2, /--workflow-id or --query is required/, "signal", "--name", "checkout");
  await cart("talk-2");
  assert.deepEqual(await json("signal", "-w", "talk-2", "--name", "checkout", "-i", '"now"'), {
    workflowId: "talk-2",
    done: "signalled",
  });

  const failed = await run(["execute", "--type", "Fails", "-w", "talk-3"]);
  assert.equal(failed.code, 1);
  assert.equal(failed.out, "");
  assert.match(failed.err, /started workflow talk-3[^]*temporalex: workflow talk-3 failed: out of stock\n$/);
  const document = await run(["result", "-w", "talk-3", "--json"]);
  assert.equal(document.code, 1);
  const { status, failure } = JSON.parse(document.out) as { status: string; failure: Json };
  assert.equal(status, "FAILED");
  assert.deepEqual(failure, { name: "ApplicationFailure", message: "out of stock", type: "OutOfStock" });
  const executed = await json("execute", "--type", "Nothing");
  assert.deepEqual([executed["status"], executed["result"]], ["COMPLETED", null]);
  assert.equal(await ok("execute", "--type", "Again", "-i", "2", "-w", "talk-4"), '"done"\n');
  await refused(2, /not expected here/, "execute", "--type", "Again", "2");
});

test("runs that continue as new: the last result, or this run's end", async () => {
  await ok("execute", "--type", "Again", "-i", "1", "-w", "chain-1");
  const runs = await json("list", "-q", 'WorkflowId = "chain-1"') as unknown as { runId: string; status: string }[];
  const first = runs.find(({ status }) => status === "CONTINUED_AS_NEW")!.runId;
  assert.equal((await json("result", "-w", "chain-1", "-r", first))["result"], "done");
  const end = await json("result", "-w", "chain-1", "-r", first, "--follow-runs", "false");
  assert.equal(end["status"], "CONTINUED_AS_NEW");
  assert.equal(end["newRunId"], runs.find(({ status }) => status === "COMPLETED")!.runId);
});

test("cancel and terminate, one and all that a query selects", async () => {
  await json("start", "--type", "Slow", "-w", "end-1", "-i", "600000");
  assert.equal(await ok("cancel", "-w", "end-1", "--reason", "closed"), "cancel requested: end-1\n");
  const cancelled = await run(["result", "-w", "end-1"]);
  assert.equal(cancelled.code, 1);
  assert.match(cancelled.err, /workflow end-1 was cancelled/);
  await json("start", "--type", "Slow", "-w", "end-2", "-i", "600000");
  assert.deepEqual(await json("terminate", "-w", "end-2", "--reason", "stuck"), { workflowId: "end-2", done: "terminated" });
  assert.equal((JSON.parse((await run(["result", "-w", "end-2", "--json"])).out) as Json)["status"], "TERMINATED");
  await refused(1, /not found|completed/, "terminate", "-w", "end-2");
  await refused(1, /not found/, "cancel", "-w", "nobody");

  await Promise.all(["a", "b", "c"].map((id) => json("start", "--type", "Slow", "-w", `many-${id}`, "-i", "600000")));
  const query = 'WorkflowId STARTS_WITH "many-"';
  await refused(2, /3 open workflows match; add --yes to go on/, "terminate", "--query", query);
  await refused(2, /--run-id goes with --workflow-id/, "terminate", "--query", query, "-r", "x");
  const all = await run(["terminate", "--query", query, "--yes", "-o", "jsonl"]);
  assert.deepEqual(
    all.out.trim().split("\n").map((line) => (JSON.parse(line) as Json)["workflowId"]).sort(),
    ["many-a", "many-b", "many-c"],
  );
  assert.equal(await ok("count", "-q", `(${query}) AND ExecutionStatus = "Running"`), "0\n");
  assert.deepEqual(await json("cancel", "--query", query, "-y"), [], "nothing is left");
});

test("describe, list, count", async () => {
  await cart("look-1", "--memo", 'who="ada"');
  const text = await ok("describe", "-w", "look-1");
  assert.match(
    text,
    /^WorkflowId +look-1\n[^]*\nStatus +Running\n[^]*\nStarted +20\d\d-.*Z \((now|\d+ seconds? ago)\)\n[^]*\nMemo +who = "ada"\n/,
  );
  const described = await json("describe", "-w", "look-1");
  assert.equal(described["type"], "Cart");
  assert.equal(described["status"], "RUNNING");
  assert.deepEqual(described["memo"], { who: "ada" });
  assert.ok(!("raw" in described) && !("rawDescription" in described));
  await refused(1, /not found/, "describe", "-w", "nobody");

  await Promise.all(Array.from({ length: 7 }, (_, i) => json("execute", "--type", "Nothing", "-w", `list-${i}`)));
  const query = 'WorkflowId STARTS_WITH "list-"';
  const table = (await ok("list", "-q", query, "--page-size", "3")).trimEnd().split("\n");
  assert.match(table[0]!, /^Status +WorkflowId +Type +Started +Closed$/);
  assert.equal(table.length, 8, "titles once, over pages");
  assert.ok(table.slice(1).every((line) => /^Completed +list-\d +Nothing +/.test(line)), table.join("\n"));
  assert.equal((await json("list", "-q", query, "--limit", "2") as unknown as Json[]).length, 2);
  const lines = await run(["list", "-q", query, "-o", "jsonl"]);
  assert.equal(lines.out.trim().split("\n").length, 7);
  assert.equal((await run(["list", "-q", query, "-o", "none"])).out, "");
  const none = await run(["list", "-q", 'WorkflowId = "nobody"']);
  assert.deepEqual([none.code, none.out, none.err], [0, "", "no workflow matches\n"]);
  await refused(1, /position 0|WorkflowIdd/, "list", "-q", 'WorkflowIdd = "x"');
  await refused(2, /--limit is a whole number from 1/, "list", "--limit", "0");
  assert.deepEqual(await json("count", "-q", query), { count: 7 });
  await refused(1, /query|position/i, "count", "-q", "=");
  const plain = await run(["list", "-q", query, "--limit", "1", "--color", "always", "--time-format", "iso"]);
  // deno-lint-ignore no-control-regex
  assert.match(plain.out, /\x1b\[32mCompleted.*\x1b\[0m.*20\d\d-\d\d-\d\dT/);
});

test("a parent shows the children that it waits for, and who waits for it is told of them", async () => {
  await json("start", "--type", "Family", "-w", "family-1");
  const child = await until("the child is shown", async () => {
    const { pendingChildren } = await json("describe", "-w", "family-1");
    return (pendingChildren as Json[]).find(({ workflowId }) => workflowId === "family-lamp");
  });
  assert.deepEqual({ ...child, runId: "" }, {
    workflowId: "family-lamp",
    runId: "",
    workflowType: "Cart",
    parentClosePolicy: "ABANDON",
  });
  assert.match(
    await ok("describe", "-w", "family-1"),
    /\nPending children\nChild +WorkflowId .*\nCart +family-lamp +\S.* +Abandon\n/,
  );
  const waits = /: it waits for its child Cart \(id family-lamp\)/;
  await refused(1, waits, "result", "-w", "family-1", "--timeout", "200ms");
  await ok("terminate", "-w", "family-lamp");
  const { code, err } = await run(["result", "-w", "family-1"]);
  assert.equal(code, 1);
  assert.match(err, /[Cc]hild/);
  assert.deepEqual((await json("describe", "-w", "family-1"))["pendingChildren"], []);
});

test("show: a table, all fields, Temporal's JSON that replays, events as they come", async () => {
  await cart("show-1");
  await ok("update", "-w", "show-1", "--name", "add_item", "-i", '"BOOK"', "--update-id", "u1");
  let followed = "";
  const following = run(["show", "-w", "show-1", "--follow"], { out: (text) => void (followed += text) });
  await until("the update is followed", () => followed.includes("UpdateCompleted"), { about: () => followed });
  assert.doesNotMatch(followed, /ExecutionCompleted/);
  await ok("signal", "-w", "show-1", "--name", "checkout", "-i", '"quick"');
  assert.equal((await following).code, 0);
  const text = await ok("show", "-w", "show-1");
  assert.deepEqual(followed.split("\n").map((line) => line.trim()), text.split("\n").map((line) => line.trim()));
  for (
    const line of [
      /^ID +Time +Event +What$/m,
      /^ +1 +20\S+Z +WorkflowExecutionStarted +Cart\("ada"\) on default$/m,
      /WorkflowExecutionUpdateAccepted +add_item\("BOOK"\), id u1$/m,
      /WorkflowExecutionUpdateCompleted +add_item = 1$/m,
      /WorkflowExecutionSignaled +checkout\("quick"\)$/m,
      /ActivityTaskScheduled +charge\("ada", \["BOOK"\]\), id 1$/m,
      /ActivityTaskCompleted +charge = "ada pays for BOOK"$/m,
      /WorkflowExecutionCompleted += \{"receipt":"ada pays for BOOK","discount":0\}$/m,
    ]
  ) assert.match(text, line);
  const detailed = await ok("show", "-w", "show-1", "--detailed");
  assert.match(detailed, /^1 WorkflowExecutionStarted +20/m);
  assert.match(detailed, /"receipt": "ada pays for BOOK"/);

  const exported = await ok("show", "-w", "show-1", "--json");
  assert.equal((JSON.parse(exported) as { events: Json[] }).events[0]!["eventType"], "EVENT_TYPE_WORKFLOW_EXECUTION_STARTED");
  writeFileSync(join(folder, "show-1.json"), exported);
  const lines = await ok("show", "-w", "show-1", "-o", "jsonl");
  writeFileSync(join(folder, "show-1.jsonl"), lines);
  const replayed = await runCommand([
    "replay",
    "--workflows",
    workflows.href.replace("file://", ""),
    "show-1.json",
    "show-1.jsonl",
  ], {
    cwd: folder,
  });
  assert.equal(replayed.code, 0, replayed.out + replayed.err);
  await refused(1, /not found/, "show", "-w", "nobody");
  await refused(2, /Unknown option '--folow'\. Did you mean --follow\?/, "show", "-w", "show-1", "--folow");
});

test("Ctrl-C ends waiting with 130, and the workflow goes on", async () => {
  await cart("interrupt-1");
  const controller = new AbortController();
  const waiting = run(["result", "-w", "interrupt-1"], { interrupt: controller.signal });
  setTimeout(() => controller.abort(new Interrupted()), 30);
  assert.equal((await waiting).code, 130);
  await ok("signal", "-w", "interrupt-1", "--name", "checkout");
  await ok("result", "-w", "interrupt-1");
});

/** Everything in a folder: names, contents, times of change of the store itself. */
const traces = (path: string): string[] =>
  readdirSync(path).sort().map((name) => {
    const file = join(path, name);
    return `${name} ${createHash("sha256").update(readFileSync(file)).digest("hex")} ${statSync(file).mtimeMs}`;
  });

test("with no holder the store is opened for a moment; reading leaves no trace", async () => {
  const lonely = join(folder, "lonely");
  const file = join(lonely, "shop.sqlite");
  const alone = (...args: string[]) => run(args, { env: { TEMPORALEX_STORE: file } });
  const missing = await alone("list");
  assert.equal(missing.code, 1);
  assert.match(missing.err, /there is no store .*shop\.sqlite/);
  mkdirSync(lonely);
  const started = await alone("start", "--type", "Slow", "-w", "lonely-1", "-i", "50");
  assert.equal(started.code, 0, started.err);
  assert.match(started.err, /No process has the store open: the workflow begins when a worker opens it/);
  assert.equal((await alone("signal", "-w", "lonely-1", "--name", "x")).code, 0);
  rmSync(`${file}-fence`);
  const before = traces(lonely);
  assert.match((await alone("list")).out, /Running +lonely-1 +Slow/);
  assert.match((await alone("count")).out, /^1\n$/);
  assert.match((await alone("describe", "-w", "lonely-1")).out, /Status +Running/);
  assert.match((await alone("show", "-w", "lonely-1")).out, /WorkflowExecutionSignaled +x\(\)/);
  assert.match((await alone("describe", "-w", "nobody")).err, /not found/);
  assert.deepEqual(traces(lonely), before);
  for (const command of [["query", "--name", "x"], ["update", "--name", "x"]]) {
    const refused = await alone(...command, "-w", "lonely-1");
    assert.equal(refused.code, 1);
    assert.match(
      refused.err,
      /no process has .*shop\.sqlite open, so no worker can answer; start one, .*temporalex worker --store/,
    );
  }

  // What waits for a worker goes on when one comes.
  const waiting = alone("result", "-w", "lonely-1");
  const asking = alone("query", "-w", "lonely-1", "--name", "__stack_trace", "--timeout", "0");
  const both = alone("result", "-w", "lonely-1", "--timeout", "300ms");
  assert.equal((await both).code, 1);
  const worker = await open({ path: file, workflows, activities, logger: silentLogger });
  const result = await waiting;
  assert.equal(result.out, '"slept"\n', result.err);
  assert.match(result.err, /^waiting: no process has .* open, and only a worker can go on/);
  // 0 is no limit.
  const asked = await asking;
  assert.equal(asked.code, 0, asked.err);
  await worker.close();
  assert.match((await alone("list", "--timeout", "0")).out, /Completed +lonely-1/);
  assert.equal((await alone("result", "-w", "lonely-1")).out, '"slept"\n', "a result that is there needs nobody");
});

test("visitors and openers wait for each other", async () => {
  const file = join(folder, "busy.sqlite");
  const calls = Array.from(
    { length: 12 },
    (_, i) => run(["start", "--type", "Nothing", "-w", `busy-${i}`], { env: { TEMPORALEX_STORE: file } }),
  );
  const opened = open({ path: file, workflows, activities, logger: silentLogger });
  for (const result of await Promise.all(calls)) assert.equal(result.code, 0, result.err);
  const worker = await opened;
  const results = await Promise.all(calls.map((_, i) => run(["result", "-w", `busy-${i}`], { env: { TEMPORALEX_STORE: file } })));
  for (const result of results) assert.equal(result.code, 0, result.err);
  await worker.close();
});

together({
  "a store that its holder does not serve is told as such": async () => {
    const file = join(folder, "silent.sqlite");
    const worker = await open({ path: file, workflows, activities, logger: silentLogger, serve: false });
    assert.equal(await worker.served, undefined);
    const refused = await run(["list"], { env: { TEMPORALEX_STORE: file } });
    assert.equal(refused.code, 1);
    assert.match(refused.err, /silent\.sqlite is open in process \d+, which cannot be reached: it was opened with serve: false/);
    await worker.close();
    const other = join(folder, "other.sqlite");
    writeFileSync(
      other,
      "this is no store, and it is longer than a header of SQLite, which has one hundred bytes; so there is more of it",
    );
    const foreign = await run(["list", "--store", other]);
    assert.equal(foreign.code, 1);
    assert.match(foreign.err, /other\.sqlite is no SQLite database/);
  },

  "who waits in vain is told why: the failing workflow task with its line, the failing activity": async () => {
    await json("start", "--type", "Bug", "-w", "stuck-1");
    await json("start", "--type", "Unheard", "-w", "stuck-2");
    const failureOf = (id: string) =>
      until(
        `the task of ${id} fails`,
        async () => (await json("describe", "-w", id))["workflowTaskFailure"] as { message: string; at: string } | undefined,
      );
    const failure = await failureOf("stuck-1");
    assert.equal(failure.message, "this code has a bug");
    assert.match(failure.at, /flows\/workflows\.[jt]s:\d+:\d+/, "the user's line, none of this package");
    await failureOf("stuck-2");
    assert.match(
      await ok("describe", "-w", "stuck-1"),
      /^Failed with +this code has a bug \(at .*workflows\.[jt]s:\d+:\d+\)?\)$/m,
    );
    await refused(
      1,
      /: its workflow task fails \(attempt \d+\): this code has a bug \(at /,
      "result",
      "-w",
      "stuck-1",
      "--timeout",
      "200ms",
    );
    await refused(
      1,
      /: its workflow task fails .*"Unheard" is not known to this worker; it knows /,
      "result",
      "-w",
      "stuck-2",
      "--timeout",
      "1s",
    );
    const file = join(folder, "stuck.sqlite");
    const env = { TEMPORALEX_STORE: file };
    const worker = await open({ path: file, workflows, logger: silentLogger }); // no activities
    try {
      await worker.served;
      assert.equal((await run(["start", "--type", "Cart", "-w", "c", "-i", '"ada"'], { env })).code, 0);
      assert.equal((await run(["signal", "-w", "c", "--name", "checkout"], { env })).code, 0);
      await until("the activity is scheduled", async () => {
        const { out } = await run(["describe", "-w", "c", "--json"], { env });
        return ((JSON.parse(out) as Json)["pendingActivities"] as Json[]).length > 0;
      });
      const { code, err } = await run(["result", "-w", "c", "--timeout", "1s"], { env });
      assert.equal(code, 1);
      assert.match(err, /: its activity charge waits for a worker that has activities/);
    } finally {
      await worker.close();
    }
    await ok("terminate", "-w", "stuck-1");
    await ok("terminate", "-w", "stuck-2");
    await refused(1, /it has ended, and takes no more messages/, "signal", "-w", "stuck-1", "--name", "checkout");
  },
});

test("what a workflow or a service says cannot steer a terminal", async () => {
  const evil = "\u001b]0;owned\u0007\u009b31m";
  await json("start", "--type", "Cart", "-w", "evil-1", "-i", JSON.stringify(evil));
  await run(["terminate", "-w", "evil-1", "--reason", evil]);
  const outputs = [
    await run(["show", "-w", "evil-1"], { terminal: true }),
    await run(["show", "-w", "evil-1", "--detailed"], { terminal: true }),
    await run(["result", "-w", "evil-1"], { terminal: true }),
    await run(["describe", "-w", evil], { terminal: true }),
    await run(["signal", "-w", "evil-1", "--name", evil], { terminal: true }),
  ];
  // deno-lint-ignore no-control-regex
  for (const { out, err } of outputs) assert.doesNotMatch(out + err, /[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
});

test("payloads of a codec: given encoded, shown decoded, exported as they are", async () => {
  const file = join(folder, "coded.sqlite");
  writeFileSync(
    join(folder, "codec.mjs"),
    `const utf8 = new TextEncoder(), flip = (data) => data.map((byte) => byte ^ 0xff);
export const codec = {
  encode: (payloads) => payloads.map(({ data }) => ({ metadata: { encoding: utf8.encode("binary/flipped") }, data: flip(data) })),
  decode: (payloads) => payloads.map((payload) => new TextDecoder().decode(payload.metadata.encoding) !== "binary/flipped" ? payload
    : { metadata: { encoding: utf8.encode("json/plain") }, data: flip(payload.data) }),
};
`,
  );
  const coded = (...args: string[]) => run([...args, "--codec", "codec.mjs"], { env: { TEMPORALEX_STORE: file } });
  assert.equal((await coded("start", "--type", "Cart", "-w", "coded-1", "-i", '"secret"')).code, 0);
  assert.match((await coded("show", "-w", "coded-1")).out, /Cart\("secret"\) on default/);
  const plain = await run(["show", "-w", "coded-1"], { env: { TEMPORALEX_STORE: file } });
  assert.match(plain.out, /binary\/flipped/);
  assert.doesNotMatch(plain.out, /secret/);
  assert.doesNotMatch((await coded("show", "-w", "coded-1", "--json")).out, /secret|InNlY3JldCI/, "an export keeps its secrets");
  assert.match((await coded("show", "-w", "coded-1", "--json", "--decode")).out, /InNlY3JldCI=/, '"secret" in base64');
  const missing = await run(["list", "--codec", "nowhere.mjs"]);
  assert.equal(missing.code, 2);
});

test("with --timeout, queries and updates wait for a worker", async () => {
  const file = join(folder, "patient.sqlite");
  const env = { TEMPORALEX_STORE: file };
  assert.equal((await run(["start", "--type", "Cart", "-w", "patient-1", "-i", '"ada"'], { env })).code, 0);
  const query = run(["query", "-w", "patient-1", "--name", "status", "--timeout", "2m"], { env });
  const vain = await run(["query", "-w", "patient-1", "--name", "status", "--timeout", "100ms"], { env });
  assert.equal(vain.code, 1);
  assert.match(vain.err, /no worker can answer/);
  const worker = await open({ path: file, workflows, activities, logger: silentLogger });
  assert.equal((await query).out, '"open"\n');
  await worker.close();
});
