// `temporalex workflow ...` on a store that a process holds: starts, messages, results, ends; text,
// JSON, mistakes.
// process: own (its support module has one store)
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Interrupted } from "../../../ts/cli/frame/errors.ts";
import { open, silentLogger } from "../../../ts/mod.ts";
import * as activities from "./flows/activities.ts";
import { until } from "../../support/until.ts";
import {
  app,
  cart,
  folder,
  type Json,
  json,
  ok,
  refused,
  run,
  store,
  workflows,
} from "./support/held_store.ts";

test("start", async () => {
  const text = await ok("start", "--type", "Cart", "--workflow-id", "start-1", "--input", '"ada"');
  assert.match(
    text,
    /^WorkflowId +start-1\nRunId +[\w-]{36}\nType +Cart\nTaskQueue +default\nWhere +store .*held\.sqlite\n$/,
  );
  const started = await cart(
    "start-2",
    "-i",
    "12345678901234567890",
    "--memo",
    'who="ada"',
    "--execution-timeout",
    "1h",
  );
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
  assert.match(
    String((await json("start", "--type", "Nothing"))["workflowId"]),
    /^[\w-]{36}$/,
    "an id is made",
  );

  await refused(
    1,
    /start-1 already exists \(run .*--id-conflict-policy UseExisting/,
    "start",
    "--type",
    "Cart",
    "-w",
    "start-1",
  );
  const joined = await cart("start-1", "--id-conflict-policy", "UseExisting");
  assert.equal(joined["runId"], /RunId +(\S+)/.exec(text)![1]);
  await refused(
    2,
    /--input is not JSON: .*a text needs its own quotes: --input '"ada"'/,
    "start",
    "--type",
    "Cart",
    "-i",
    "ada",
  );
  await refused(2, /--type <name> is missing/, "start", "-w", "x");
  await refused(
    2,
    /--input and --input-file/,
    "start",
    "--type",
    "Cart",
    "-i",
    "1",
    "--input-file",
    "x",
  );
  await refused(
    2,
    /nowhere\.json cannot be read/,
    "start",
    "--type",
    "Cart",
    "--input-file",
    "nowhere.json",
  );
  await refused(2, /--memo is written key=value/, "start", "--type", "Cart", "--memo", "x");
  await refused(
    2,
    /--store and --address cannot be used together/,
    "start",
    "--type",
    "Cart",
    "--store",
    store,
    "--address",
    "localhost:1",
  );
});

test("input can come from files and standard input, in base64 and in other encodings", async () => {
  writeFileSync(join(folder, "ada.json"), '"ada"');
  await ok("start", "--type", "Cart", "-w", "input-1", "--input-file", "ada.json");
  const piped = await run(["start", "--type", "Cart", "-w", "input-2", "--input-file", "-"], {
    input: '"bob"',
  });
  assert.equal(piped.code, 0, piped.err);
  await ok("start", "--type", "Cart", "-w", "input-3", "-i", btoa('"eve"'), "--input-base64");
  await ok(
    "start",
    "--type",
    "Cart",
    "-w",
    "input-4",
    "-i",
    "secret",
    "--input-meta",
    "encoding=binary/encrypted",
  );
  const first = async (id: string) => /Cart\((.*)\) on/.exec(await ok("show", "-w", id))![1];
  assert.deepEqual(await Promise.all(["input-1", "input-2", "input-3"].map(first)), [
    '"ada"',
    '"bob"',
    '"eve"',
  ]);
  assert.match(
    (await first("input-4"))!,
    /binary\/encrypted/,
    "what cannot be decoded is shown, not hidden",
  );
  await refused(2, /is not base64/, "start", "--type", "Cart", "-i", "***", "--input-base64");
});

test("update-with-start on a store starts the workflow, then uses the running one", async () => {
  const more = ["--type", "Cart", "-w", "first-item", "-i", '"ada"', "--update-name", "add_item"];
  const first = await json("update-with-start", ...more, "--update-input", '"BOOK"');
  assert.equal(first["result"], 1);
  const second = await json("update-with-start", ...more, "--update-input", '"PEN"');
  assert.deepEqual([second["result"], second["runId"]], [2, first["runId"]]);
});

test("update, query, signal, result and execute work", async () => {
  await cart("talk-1");
  assert.equal(await ok("query", "-w", "talk-1", "--name", "status"), '"open"\n');
  assert.deepEqual(await json("query", "-w", "talk-1", "--type", "status", "-i", "true"), {
    workflowId: "talk-1",
    name: "status",
    result: "OPEN",
  });
  assert.equal(await ok("execute", "--type", "Nothing", "-w", "nothing-1"), "");
  const empty = await run(["query", "-w", "nothing-1", "--name", "empty"]);
  assert.deepEqual([empty.code, empty.out, empty.err], [0, "", "empty returned no value\n"]);
  await refused(
    1,
    /query "stauts" failed: Unknown query/,
    "query",
    "-w",
    "talk-1",
    "--name",
    "stauts",
  );
  await refused(
    1,
    /workflow absent not found in store /,
    "query",
    "-w",
    "absent",
    "--name",
    "status",
  );

  const stack = await ok("stack", "-w", "talk-1");
  assert.match(
    stack,
    /^run of workflow "Cart": receive\n {4}at run \(.*flows\/workflows\.[jt]s:\d+:\d+\)\n$/,
  );
  assert.deepEqual(await json("stack", "-w", "talk-1"), {
    workflowId: "talk-1",
    stackTrace: stack.trimEnd(),
  });
  const enhanced = await json("stack", "-w", "talk-1", "--enhanced") as {
    stacks: { locations: Json[] }[];
  };
  assert.match(String(enhanced.stacks[0]!.locations[0]!["file_path"]), /flows\/workflows\.[jt]s$/);
  assert.match(
    await ok("metadata", "-w", "talk-1"),
    /^Type {2}Cart\n\nSignals\ncheckout\n\nUpdates\nadd_item\n\nQueries\nstatus\n$/,
  );
  const { definition, currentDetails } = await json("metadata", "-w", "talk-1") as {
    definition: Json;
    currentDetails: string;
  };
  assert.deepEqual([definition["type"], definition["updateDefinitions"], currentDetails], ["Cart", [
    { name: "add_item" },
  ], ""]);
  await refused(1, /workflow absent not found in store /, "stack", "-w", "absent");
  await refused(2, /--workflow-id/, "metadata");

  assert.equal(await ok("update", "-w", "talk-1", "--name", "add_item", "-i", '"BOOK"'), "1\n");
  const added = await json(
    "update",
    "execute",
    "-w",
    "talk-1",
    "--name",
    "add_item",
    "-i",
    '"PEN"',
    "--update-id",
    "u2",
  );
  assert.deepEqual(added, { workflowId: "talk-1", updateId: "u2", name: "add_item", result: 2 });
  assert.deepEqual(
    await json(
      "update",
      "execute",
      "-w",
      "talk-1",
      "--name",
      "add_item",
      "-i",
      '"PEN"',
      "--update-id",
      "u2",
    ),
    added,
  );
  assert.equal(
    (await json(
      "update",
      "start",
      "-w",
      "talk-1",
      "--name",
      "add_item",
      "-i",
      '"INK"',
      "--update-id",
      "u3",
    ))["stage"],
    "ACCEPTED",
  );
  assert.match(
    await ok(
      "update",
      "start",
      "-w",
      "talk-1",
      "--name",
      "add_item",
      "-i",
      '"CUP"',
      "--update-id",
      "u4",
    ),
    /^UpdateId +u4\n/,
  );
  assert.equal(await ok("update", "result", "-w", "talk-1", "--update-id", "u3"), "3\n");
  assert.equal((await json("update", "result", "-w", "talk-1", "--update-id", "u4"))["result"], 4);
  await refused(
    1,
    /rejected the update: an item needs a name/,
    "update",
    "-w",
    "talk-1",
    "--name",
    "add_item",
    "-i",
    '""',
  );
  await refused(
    1,
    /rejected the update: .*accepts these updates: add_item/,
    "update",
    "-w",
    "talk-1",
    "--name",
    "ad_item",
  );
  await refused(
    1,
    /not found/i,
    "update",
    "result",
    "-w",
    "talk-1",
    "--update-id",
    "u9",
    "--timeout",
    "1s",
  );

  await refused(
    1,
    /did not complete before the deadline; increase the --timeout/,
    "result",
    "-w",
    "talk-1",
    "--timeout",
    "50ms",
  );
  assert.equal(await ok("signal", "-w", "talk-1", "--name", "checkout"), "signalled talk-1\n");
  const receipt = { receipt: "ada pays for BOOK and PEN and INK and CUP", discount: 0 };
  assert.deepEqual(JSON.parse(await ok("result", "-w", "talk-1")), receipt);
  assert.deepEqual(await json("result", "-w", "talk-1"), {
    workflowId: "talk-1",
    status: "COMPLETED",
    result: receipt,
  });
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
  assert.match(
    failed.err,
    /started workflow talk-3[^]*temporalex: workflow talk-3 failed: out of stock\n$/,
  );
  const document = await run(["result", "-w", "talk-3", "--json"]);
  assert.equal(document.code, 1);
  const { status, failure } = JSON.parse(document.out) as { status: string; failure: Json };
  assert.equal(status, "FAILED");
  assert.deepEqual(failure, {
    name: "ApplicationFailure",
    message: "out of stock",
    type: "OutOfStock",
  });
  const executed = await json("execute", "--type", "Nothing");
  assert.deepEqual([executed["status"], executed["result"]], ["COMPLETED", null]);
  assert.equal(await ok("execute", "--type", "Again", "-i", "2", "-w", "talk-4"), '"done"\n');
  await refused(2, /not expected here/, "execute", "--type", "Again", "2");
});

test("for runs that continue as new, result waits for the last result or for the end of this run", async () => {
  await ok("execute", "--type", "Again", "-i", "1", "-w", "chain-1");
  const runs = await json("list", "-q", 'WorkflowId = "chain-1"') as unknown as {
    runId: string;
    status: string;
  }[];
  const first = runs.find(({ status }) => status === "CONTINUED_AS_NEW")!.runId;
  assert.equal((await json("result", "-w", "chain-1", "-r", first))["result"], "done");
  const end = await json("result", "-w", "chain-1", "-r", first, "--follow-runs", "false");
  assert.equal(end["status"], "CONTINUED_AS_NEW");
  assert.equal(end["newRunId"], runs.find(({ status }) => status === "COMPLETED")!.runId);
});

test("cancel and terminate act on one run or on all runs that a query selects", async () => {
  await json("start", "--type", "Slow", "-w", "end-1", "-i", "600000");
  assert.equal(
    await ok("cancel", "-w", "end-1", "--reason", "closed"),
    "cancel requested: end-1\n",
  );
  const cancelled = await run(["result", "-w", "end-1"]);
  assert.equal(cancelled.code, 1);
  assert.match(cancelled.err, /workflow end-1 was cancelled/);
  await json("start", "--type", "Slow", "-w", "end-2", "-i", "600000");
  assert.deepEqual(await json("terminate", "-w", "end-2", "--reason", "stuck"), {
    workflowId: "end-2",
    done: "terminated",
  });
  assert.equal(
    (JSON.parse((await run(["result", "-w", "end-2", "--json"])).out) as Json)["status"],
    "TERMINATED",
  );
  await refused(1, /not found|completed/, "terminate", "-w", "end-2");
  await refused(1, /not found/, "cancel", "-w", "absent");

  await Promise.all(
    ["a", "b", "c"].map((id) =>
      json("start", "--type", "Slow", "-w", `many-${id}`, "-i", "600000")
    ),
  );
  const query = 'WorkflowId STARTS_WITH "many-"';
  await refused(2, /3 open workflows match; add --yes to continue/, "terminate", "--query", query);
  await refused(2, /--run-id goes with --workflow-id/, "terminate", "--query", query, "-r", "x");
  const all = await run(["terminate", "--query", query, "--yes", "-o", "jsonl"]);
  assert.deepEqual(
    all.out.trim().split("\n").map((line) => (JSON.parse(line) as Json)["workflowId"]).sort(),
    ["many-a", "many-b", "many-c"],
  );
  assert.equal(await ok("count", "-q", `(${query}) AND ExecutionStatus = "Running"`), "0\n");
  assert.deepEqual(await json("cancel", "--query", query, "-y"), [], "nothing is left");
  for (const id of ["x", "y"]) {
    await json(
      "start",
      "--type",
      "Slow",
      "-w",
      `spell-${id}`,
      "-i",
      "600000",
      "--correlation",
      "s 1",
    );
  }
  const spell = await run(["cancel", "--correlation", "s 1", "--yes", "--json"]);
  assert.deepEqual((JSON.parse(spell.out) as Json[]).map(({ done }) => done), [
    "cancel requested",
    "cancel requested",
  ]);
  // On a terminal results and progress are on one screen.
  for (const id of ["x", "y"]) {
    await json("start", "--type", "Slow", "-w", `seen-${id}`, "-i", "600000");
  }
  let screen = "";
  const shows = (text: string) => void (screen += text);
  const seen = ["terminate", "--query", 'WorkflowId STARTS_WITH "seen-"', "--yes"];
  await run(seen, { terminal: true, errTerminal: true, out: shows, err: shows });
  const lines = screen.split("\n").map((line) =>
    line.slice(line.lastIndexOf("\r") + 1).replace("\x1b[2K", "")
  );
  assert.deepEqual(lines.slice().sort(), [
    "",
    "2 terminated",
    "terminated seen-x",
    "terminated seen-y",
  ]);
  assert.deepEqual(screen.match(/\d+ of \d+/g), ["1 of 2", "2 of 2"]);
  const none = await run(["cancel", "--correlation", "absent", "--yes"]);
  assert.match(none.out + none.err, /^cancel requested: 0 workflows\n$/);
});

test("Ctrl-C ends a wait with exit code 130, and the workflow continues", async () => {
  await cart("interrupt-1");
  const controller = new AbortController();
  const waiting = run(["result", "-w", "interrupt-1"], { interrupt: controller.signal });
  setTimeout(() => controller.abort(new Interrupted()), 30);
  assert.equal((await waiting).code, 130);
  await ok("signal", "-w", "interrupt-1", "--name", "checkout");
  await ok("result", "-w", "interrupt-1");
});

test("procedure calls can be listed, completed, failed, described and shown", async () => {
  await json("start", "--type", "Asks", "-w", "asks");
  await until("it asks", async () => (await run(["procedure", "list", "-w", "asks"])).out !== "");
  assert.match(
    await ok("procedure", "-w", "asks"),
    /^Procedure +Id +Arguments +Since +Times out\ncompute_damage +1 +42, "sword" +\S.*\n$/,
  );
  assert.match(
    await ok("describe", "-w", "asks"),
    /\nPending procedures\nProcedure +Id +Since +Times out\ncompute_damage +1 /,
  );
  await refused(
    2,
    /--name or --procedure-id is required, and not both/,
    "procedure",
    "complete",
    "-w",
    "asks",
  );
  const twice = [
    "procedure",
    "complete",
    "-w",
    "asks",
    "--name",
    "compute_damage",
    "-i",
    "1",
    "-i",
    "2",
  ];
  await refused(2, /a procedure has one result; give --input once/, ...twice);
  const unknown = await run(["procedure", "complete", "-w", "asks", "--name", "damage"]);
  assert.equal(unknown.code, 1);
  assert.match(
    unknown.err,
    /workflow asks has no open procedure "damage": .* open procedures: "compute_damage" \(id 1\)/,
  );
  assert.equal(
    await ok("procedure", "complete", "-w", "asks", "--name", "compute_damage", "-i", "12"),
    "completed procedure compute_damage (id 1) of asks\n",
  );
  const second = async () =>
    JSON.parse((await run(["procedure", "list", "-w", "asks", "-o", "jsonl"])).out || "{}") as Json;
  await until("it asks again", async () => (await second())["name"] === "approve");
  const { id, args } = await second();
  assert.deepEqual(args, []);
  assert.deepEqual(
    await json("procedure", "fail", "-w", "asks", "--procedure-id", String(id), "--reason", "no"),
    {
      workflowId: "asks",
      procedureId: id,
      done: "failed",
    },
  );
  assert.deepEqual((await json("result", "-w", "asks"))["result"], [12, "ProcedureFailed: no"]);
  assert.match(await ok("show", "-w", "asks"), /procedure compute_damage\(42, "sword"\), id 1/);
});

test("broadcast: by filter, to all, as JSON, and invalid input", async () => {
  for (const item of [7, 8, 9]) {
    await json("start", "--type", "Hears", "-w", `hears-${item}`, "-i", String(item));
  }
  await until(
    "all have subscribed",
    async () => await app.client.count("WorkflowSubscription = 'found:'") === 3,
  );
  const broadcast = ["broadcast", "--signal", "found"];
  assert.equal(
    await ok(...broadcast, "--filter", "8", "-i", '{"by": "ada"}'),
    "found reached 1 workflow\n",
  );
  assert.deepEqual(await app.client.getHandle(undefined, "hears-8").result(), { by: "ada" });
  assert.deepEqual(await json(...broadcast, "--filter", '"8"', "-i", "1"), {
    signal: "found",
    filter: "8",
    reached: 0,
    missed: [],
  });
  assert.deepEqual(await json(...broadcast, "-i", "12345678901234567890"), {
    signal: "found",
    reached: 2,
    missed: [],
  });
  assert.equal(
    await ok("result", "-w", "hears-9"),
    "12345678901234567000\n",
    "as JavaScript has it",
  );
  await refused(
    2,
    /--filter is not JSON: .*; a text needs its own quotes: --filter '"orc"'/,
    ...broadcast,
    "--filter",
    "orc",
  );
  await refused(
    2,
    /--filter is a non-empty string, a number or a boolean, not \[1\]/,
    ...broadcast,
    "--filter",
    "[1]",
  );
  await refused(2, /write the number as JavaScript does: 1000/, ...broadcast, "--filter", "1e3");
  await refused(2, /--signal/, "broadcast");
});

test("broadcast: runs that did not accept it are listed, with exit status 1", async () => {
  const path = join(folder, "full.sqlite");
  const engine = await open({
    path,
    workflows,
    activities,
    engine: { limits: { inbox: 1 } },
    logger: silentLogger,
  });
  try {
    for (const id of ["full", "free"]) {
      await engine.client.start("Hears", {
        id,
        args: [0],
        taskQueue: "unpolled",
        searchAttributes: { WorkflowSubscription: ["found"] },
      });
    }
    await engine.client.getHandle(undefined, "full").signal("other");
    const first = await run(["broadcast", "--signal", "found", "--store", path]);
    assert.deepEqual([first.code, first.err], [1, ""]);
    assert.match(first.out, /^found reached 1 workflow\nnot full: .+\n$/);
    const again = await run(["broadcast", "--signal", "found", "--store", path, "--json"]);
    const { reached, missed } = JSON.parse(again.out) as {
      reached: number;
      missed: { workflowId: string }[];
    };
    assert.deepEqual([again.code, reached, missed.map(({ workflowId }) => workflowId).sort()], [
      1,
      0,
      ["free", "full"],
    ]);
  } finally {
    await engine.close();
  }
});
