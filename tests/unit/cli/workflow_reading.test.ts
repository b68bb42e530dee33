// `temporalex workflow describe`, `list`, `count` and `show`, on a store that a process holds.
// process: own (its support module has one store)
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run as runCommand } from "./support/run.ts";
import { until } from "../../support/until.ts";
import {
  cart,
  folder,
  type Json,
  json,
  ok,
  refused,
  run,
  workflows,
} from "./support/held_store.ts";

test("runs of an entity or a group are listed, counted and canceled", async () => {
  const belongs = (entity: string) => ["--entity", entity, "--correlation", "spell-1"];
  await cart("belongs-41", ...belongs("41"));
  await cart("belongs-42", ...belongs("42"));
  const listed = async (...args: string[]) =>
    (await json("list", ...args) as unknown as { workflowId: string }[]).map((found) =>
      found.workflowId
    ).sort();
  assert.deepEqual(await listed("--entity", "42"), ["belongs-42"]);
  assert.deepEqual(await listed("--correlation", "spell-1"), ["belongs-41", "belongs-42"]);
  assert.deepEqual(
    await listed(
      "--correlation",
      "spell-1",
      "--query",
      'WorkflowId = "belongs-41" OR WorkflowId = "x"',
    ),
    [
      "belongs-41",
    ],
  );
  assert.equal(
    (await json("count", "--correlation", "spell-1", "--query", "GROUP BY ExecutionStatus"))[
      "count"
    ],
    2,
  );
  await refused(2, /2 open workflows match; add --yes/, "cancel", "--correlation", "spell-1");
  await refused(
    2,
    /--workflow-id or --query is required .*, and not both/,
    "cancel",
    "--correlation",
    "spell-1",
    "-w",
    "belongs-41",
  );
  assert.equal(
    (await json("terminate", "--correlation", "spell-1", "--yes") as unknown as Json[]).length,
    2,
  );
  assert.deepEqual(await listed("--entity", "42", "--query", 'ExecutionStatus = "Running"'), []);
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
  await refused(1, /not found/, "describe", "-w", "absent");

  await Promise.all(
    Array.from({ length: 7 }, (_, i) => json("execute", "--type", "Nothing", "-w", `list-${i}`)),
  );
  const query = 'WorkflowId STARTS_WITH "list-"';
  const table = (await ok("list", "-q", query, "--page-size", "3")).trimEnd().split("\n");
  assert.match(table[0]!, /^Status +WorkflowId +Type +Started +Closed$/);
  assert.equal(table.length, 8, "titles once, over pages");
  assert.ok(
    table.slice(1).every((line) => /^Completed +list-\d +Nothing +/.test(line)),
    table.join("\n"),
  );
  assert.equal((await json("list", "-q", query, "--limit", "2") as unknown as Json[]).length, 2);
  const lines = await run(["list", "-q", query, "-o", "jsonl"]);
  assert.equal(lines.out.trim().split("\n").length, 7);
  assert.equal((await run(["list", "-q", query, "-o", "none"])).out, "");
  const none = await run(["list", "-q", 'WorkflowId = "absent"']);
  assert.deepEqual([none.code, none.out, none.err], [0, "", "no workflow matches\n"]);
  await refused(1, /position 0|WorkflowIdd/, "list", "-q", 'WorkflowIdd = "x"');
  await refused(2, /--limit must be a whole number of at least 1/, "list", "--limit", "0");
  assert.deepEqual(await json("count", "-q", query), { count: 7 });
  await refused(1, /query|position/i, "count", "-q", "=");
  const narrow = await run(["list", "-q", query, "--limit", "1"], { terminal: true, width: 50 });
  assert.match(narrow.out, /^Completed {2}list-\S+ +Nothing +(?:now|\d+s ago) +(?:now|\d+s ago)$/m);
  const plain = await run([
    "list",
    "-q",
    query,
    "--limit",
    "1",
    "--color",
    "always",
    "--time-format",
    "iso",
  ]);
  // deno-lint-ignore no-control-regex
  assert.match(plain.out, /\x1b\[32mCompleted.*\x1b\[0m.*20\d\d-\d\d-\d\dT/);
});

test("a parent shows its pending children, also to a client that waits for its result", async () => {
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

test("show prints a table, all fields, JSON that Temporal replays, or events as they arrive", async () => {
  await cart("show-1");
  await ok("update", "-w", "show-1", "--name", "add_item", "-i", '"BOOK"', "--update-id", "u1");
  let followed = "";
  const following = run(["show", "-w", "show-1", "--follow"], {
    out: (text) => void (followed += text),
  });
  await until("the update is followed", () => followed.includes("UpdateCompleted"), {
    about: () => followed,
  });
  assert.doesNotMatch(followed, /ExecutionCompleted/);
  await ok("signal", "-w", "show-1", "--name", "checkout", "-i", '"quick"');
  assert.equal((await following).code, 0);
  const text = await ok("show", "-w", "show-1");
  assert.deepEqual(
    followed.split("\n").map((line) => line.trim()),
    text.split("\n").map((line) => line.trim()),
  );
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
  const narrow = (await run(["show", "-w", "show-1"], { terminal: true, width: 80 })).out.split(
    "\n",
  );
  assert.ok(narrow.every((line) => line.length <= 80), narrow.join("\n"));
  assert.match(
    narrow[1]!,
    /^ 1 {2}\d\d-\d\d \d\d:\d\d:\d\d {2}WorkflowExecutionStarted {12}Cart\("ada"\) on default$/,
  );
  assert.equal((await run(["show", "-w", "show-1"], { terminal: true, width: 200 })).out, text);
  const detailed = await ok("show", "-w", "show-1", "--detailed");
  assert.match(detailed, /^1 WorkflowExecutionStarted +20/m);
  assert.match(detailed, /"receipt": "ada pays for BOOK"/);

  const exported = await ok("show", "-w", "show-1", "--json");
  assert.equal(
    (JSON.parse(exported) as { events: Json[] }).events[0]!["eventType"],
    "EVENT_TYPE_WORKFLOW_EXECUTION_STARTED",
  );
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
  await refused(1, /not found/, "show", "-w", "absent");
  await refused(
    2,
    /Unknown option '--folow'\. Did you mean --follow\?/,
    "show",
    "-w",
    "show-1",
    "--folow",
  );
});

test("texts of a workflow or a service cannot control a terminal", async () => {
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
  for (const { out, err } of outputs) {
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(out + err, /[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
  }
});

test("payloads of a codec are sent encoded, shown decoded, and exported encoded", async () => {
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
  const coded = (...args: string[]) =>
    run([...args, "--codec", "codec.mjs"], { env: { TEMPORALEX_STORE: file } });
  assert.equal((await coded("start", "--type", "Cart", "-w", "coded-1", "-i", '"secret"')).code, 0);
  assert.match((await coded("show", "-w", "coded-1")).out, /Cart\("secret"\) on default/);
  const plain = await run(["show", "-w", "coded-1"], { env: { TEMPORALEX_STORE: file } });
  assert.match(plain.out, /binary\/flipped/);
  assert.doesNotMatch(plain.out, /secret/);
  assert.doesNotMatch(
    (await coded("show", "-w", "coded-1", "--json")).out,
    /secret|InNlY3JldCI/,
    "an export keeps its secrets",
  );
  assert.match(
    (await coded("show", "-w", "coded-1", "--json", "--decode")).out,
    /InNlY3JldCI=/,
    '"secret" in base64',
  );
  const missing = await run(["list", "--codec", "nowhere.mjs"]);
  assert.equal(missing.code, 2);
});
