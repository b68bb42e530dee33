// `temporalex replay` over many histories: folders, files with several, stores; the order of lines,
// the summary, the reports, Ctrl-C.
// takes: 9 s
// runtime: node (long; shorter files of this room run in each runtime)
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { fromBinary, toJson } from "@bufbuild/protobuf";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import type { ReplayLine, SummaryLine } from "../../../ts/cli/commands/replay/run.ts";
import { Interrupted } from "../../../ts/cli/frame/errors.ts";
import { withRealm } from "../../cases/realm_host.ts";
import { strangeIn } from "../report/hostile.ts";
import { run as runCommand, type RunOptions } from "./support/run.ts";

const MODULE = `import { activities, sleep, workflow } from "temporalex/workflow";
interface Acts { charge(card: string): Promise<string> }
const acts = activities<Acts>({ startToClose: "1m" });
export const order = workflow("Order", async (card: string): Promise<string> => {
  await sleep("1s");
  return await acts.charge(card);
});
export const nap = workflow("Nap", async (): Promise<void> => {
  await sleep("2s");
});
`;
/** Orders are charged before they sleep; naps are as they were. */
const CHANGED = MODULE.replace('  await sleep("1s");\n  return await', "  return await");
/** Orders end at once, and no line of them runs. */
const EARLY = MODULE.replace('  await sleep("1s");\n  return await acts.charge(card);', "");
const SECRET = "4111-1111-1111-1111";

let folder = "";
let order: Uint8Array;
let nap: Uint8Array;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "temporalex-gate-"));
  await withRealm(MODULE, async (h) => {
    const run = h.start("Order", { args: [SECRET] });
    await run.task();
    run.server.fireTimer("1");
    await run.task();
    run.server.completeActivity("1", `charged ${SECRET}`);
    await run.task();
    order = run.server.history();
    const other = h.start("Nap");
    await other.auto();
    nap = other.server.history();
  });
  write("workflows.ts", MODULE);
  write("src/changed.ts", CHANGED);
});
after(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, content: string | Uint8Array): void {
  const path = join(folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, content);
}

const read = (name: string): string => readFileSync(join(folder, name), "utf8");
const objectOf = (bytes: Uint8Array) =>
  toJson(HistorySchema, fromBinary(HistorySchema, bytes)) as { events: object[] };
const jsonOf = (bytes: Uint8Array): string => JSON.stringify(objectOf(bytes));

interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly lines: readonly ReplayLine[];
  readonly summary: SummaryLine;
}

async function run(args: readonly string[], options: RunOptions = {}): Promise<Result> {
  const result = await runCommand(["replay", ...args], { cwd: folder, ...options });
  const lines = result.out.split("\n").filter((line) => line.startsWith("{")).map((line) =>
    JSON.parse(line)
  );
  return { ...result, lines: lines.slice(0, -1), summary: lines.at(-1)?.summary };
}

const brief = ({ file, place, verdict, workflowType }: ReplayLine) =>
  `${verdict} ${file}${place === undefined ? "" : ` ${place}`} ${workflowType}`.trimEnd();

test("a folder selects all its histories, ordered by name, and a file may contain several", async () => {
  write("all/b.json", jsonOf(order));
  write("all/a/deep.bin", order);
  write("all/a/list.json", JSON.stringify([objectOf(nap), { history: objectOf(order) }]));
  const head = { workflowId: "named-by-the-line", runId: "r" };
  write(
    "all/lines.jsonl",
    `${JSON.stringify({ ...head, history: objectOf(order) })}\n\n${jsonOf(nap)}\n`,
  );
  write("all/packed.jsonl.gz", gzipSync(`${jsonOf(order)}\n${jsonOf(nap)}`));
  write(
    "all/events.jsonl",
    objectOf(nap).events.map((event) => `${JSON.stringify(event)}\n`).join(""),
  );
  write("all/README.md", "no history");
  write("all/.hidden.json", "no history");
  write("all/node_modules/x/package.json", "{}");
  symlinkSync(join(folder, "all"), join(folder, "all/round"));
  const result = await run(["--workflows", "workflows.ts", "--jobs", "2", "all"]);
  assert.equal(result.code, 0, result.out + result.err);
  assert.deepEqual(result.lines.map(brief), [
    `ok ${join("all", "a", "deep.bin")} Order`,
    `ok ${join("all", "a", "list.json")} [0] Nap`,
    `ok ${join("all", "a", "list.json")} [1] Order`,
    `ok ${join("all", "b.json")} Order`,
    `ok ${join("all", "events.jsonl")} Nap`,
    `ok ${join("all", "lines.jsonl")} line 1 Order`,
    `ok ${join("all", "lines.jsonl")} line 3 Nap`,
    `ok ${join("all", "packed.jsonl.gz")} line 1 Order`,
    `ok ${join("all", "packed.jsonl.gz")} line 2 Nap`,
  ]);
  assert.deepEqual(result.summary.verdicts, { ok: 9, nondeterminism: 0, failed: 0, unreadable: 0 });
  assert.equal(
    result.summary.events,
    objectOf(order).events.length * 5 + objectOf(nap).events.length * 4,
  );

  write("none/README.md", "no history");
  const none = await run(["--workflows", "workflows.ts", "none"]);
  assert.equal(none.code, 2);
  assert.match(none.err, /the folder none has no histories: no file in it ends in \.json/);
});

test("a large file is read line by line, also in gzip, and a broken line does not affect the others", async () => {
  const note = "x".repeat(1_100_000);
  const line = (bytes: Uint8Array) => JSON.stringify({ note, history: objectOf(bytes) });
  const text = [
    line(order),
    line(nap),
    `{"note":"${note}", "history": {"events": [`,
    line(order),
    "[3]",
  ].join("\n");
  write("large/plain.jsonl", text);
  // The compressed size is below the limit: the size on disk decides.
  write("large/stored.jsonl.gz", gzipSync(text, { level: 0 }));
  const result = await run(["--workflows", "workflows.ts", "large"]);
  assert.equal(result.code, 2);
  for (const file of [join("large", "plain.jsonl"), join("large", "stored.jsonl.gz")]) {
    assert.deepEqual(result.lines.filter((line) => line.file === file).map(brief), [
      `ok ${file} line 1 Order`,
      `ok ${file} line 2 Nap`,
      `unreadable ${file} line 3`,
      `ok ${file} line 4 Order`,
      `unreadable ${file} line 5`,
    ]);
  }
  assert.match(result.lines[2]!.error!.message, /it ends unexpectedly/);
  assert.match(result.lines[4]!.error!.message, /has a list, but its items are not events/);
});

test("unreadable histories are reported with file and position but no payload, and the others are replayed", async () => {
  const text = jsonOf(order);
  write("broken/1_cut.json", JSON.stringify(objectOf(order), undefined, 1).slice(0, 600));
  write("broken/2_shape.json", text.replace(/"eventTime":"[^"]*"/, `"eventTime":"yesterday"`));
  write(
    "broken/3_payload.json",
    text.replaceAll(/"data":"[^"]*"/g, `"data":{"secret":"${SECRET}"}`),
  );
  write("broken/4_other.json", `{"name": "${SECRET}"}`);
  write(
    "broken/5_list.json",
    JSON.stringify([objectOf(nap), { events: [{ eventId: "1" }] }, objectOf(nap)]),
  );
  write("broken/6_good.json", text);
  const result = await run(["--workflows", "workflows.ts", "broken"]);
  assert.equal(result.code, 2);
  assert.deepEqual(result.lines.map(({ verdict }) => verdict), [
    ...["unreadable", "unreadable", "ok", "unreadable", "ok", "unreadable", "ok", "ok"],
  ]);
  const said = result.lines.filter(({ verdict }) => verdict === "unreadable").map((
    { file, place = "", error },
  ) => `${file} ${place}: ${error!.message}`);
  assert.match(
    said[0]!,
    /1_cut\.json : the file is not valid JSON: it ends unexpectedly at line \d+/,
  );
  assert.match(
    said[1]!,
    /2_shape\.json : events\[0\]\.eventTime should be a time, but is "yesterday"/,
  );
  assert.match(
    said[2]!,
    /4_other\.json : the file is JSON, but not a history: it has no "events" \(its keys: name\)/,
  );
  assert.match(said[3]!, /5_list\.json \[1\]: events\[0\] \(eventId 1\) is not an event/);
  assert.doesNotMatch(result.out + result.err, new RegExp(SECRET));
  assert.equal(result.summary.groups.length, 4, "each unreadable history has a separate row");
});

test("divergences are grouped by line: type, line, number of runs and an example with its event", async () => {
  for (let i = 0; i < 5; i++) write(`diverging/order-${i}.json`, jsonOf(order));
  write("diverging/nap.json", jsonOf(nap));
  const args = ["--workflows", "src/changed.ts", "--jobs", "2", "diverging"];
  const json = await run(args);
  assert.equal(json.code, 1);
  const [group, ...others] = json.summary.groups;
  assert.deepEqual(others, []);
  const { message, example, ...rest } = group!;
  assert.deepEqual(rest, {
    verdict: "nondeterminism",
    workflowType: "Order",
    place: { file: "src/changed.ts", line: 5, column: 21, function: rest.place!.function },
    code: rest.code,
    sentence: rest.sentence,
    runs: 5,
    workflowIds: rest.workflowIds,
  });
  const sentence =
    "In task 1 your code calls activity charge where history has a timer of 1 s (event 5): changed.ts:5. A timer of 1 s was removed.";
  assert.equal(rest.sentence, sentence);
  assert.equal(rest.workflowIds.length, 5);
  assert.match(message, /TMPRL1100/);
  assert.equal(example.file, join("diverging", "order-0.json"));
  assert.equal(example.eventId, 5);

  const text = await run([...args, "--output", "text"]);
  assert.equal(text.code, 1);
  assert.doesNotMatch(text.out, /^ok/m, "of a folder only what is not ok is shown");
  assert.equal(
    text.out.match(/^nondeterminism +diverging/gm)?.length,
    3,
    "and of one kind no more than three",
  );
  assert.match(text.out, /^Verdict +Workflow +Line +Runs +Example$/m);
  assert.match(
    text.out,
    /^nondeterminism +Order +src\/changed\.ts:5 +5 +diverging.order-0\.json, event 5$/m,
  );
  assert.ok(text.out.includes(`\n    ${sentence}\n`), "the sentence comes first");
  assert.ok(
    text.out.includes(`${sentence}\n    shared by 5 runs: ${rest.workflowIds.join(", ")}\n`),
    "and who shares it",
  );
  assert.match(text.out, /if \(!patched\("without-timer"\)\)/, "with code to paste");
  assert.match(text.out, /^6 histories: 1 ok, 5 nondeterminism \(\d+\.\d s\)$/m);
  assert.doesNotMatch(text.out + json.out, new RegExp(SECRET));
});

test("reports: JUnit, SARIF, HTML, annotations", async () => {
  write("reported/a<&>.json", jsonOf(order));
  write("reported/b.json", jsonOf(order));
  write("reported/c.json", jsonOf(nap));
  write("reported/d.json", "{");
  const args = [
    "--workflows",
    "src/changed.ts",
    "--junit",
    "out.xml",
    "--sarif",
    "out.sarif",
    "--html",
    "out.html",
    "--github",
    "reported",
  ];
  const result = await run([...args, "--output", "text"]);
  assert.equal(result.code, 2);

  const xml = read("out.xml");
  assert.match(
    xml,
    /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites name="temporalex replay" tests="4" failures="2" errors="1" time="/,
  );
  assert.match(
    xml,
    /<testsuite name="Order" tests="2" failures="2" errors="0" skipped="0" time="[\d.]+" timestamp="[\dT:-]{19}">/,
  );
  assert.match(
    xml,
    /<testcase name="reported.a&lt;&amp;&gt;\.json" classname="Order" time="[\d.]+">\n +<failure message="In task 1 your code calls activity charge where/,
  );
  assert.match(
    xml,
    /type="nondeterminism">In task 1 [^<]*\[TMPRL1100\][^<]*event 5&#10;[^<]*at src\/changed\.ts:5<\/failure>/,
  );
  assert.match(xml, /<testcase name="reported.c\.json" classname="Nap" time="[\d.]+"\/>/);
  assert.match(xml, /<error message="[^"]+" type="unreadable">/);
  assertWellFormed(xml);

  const page = read("out.html");
  assert.deepEqual(strangeIn(page), []);
  assert.match(page, /<h1>4 histories replayed<\/h1>/);
  const figures = [...page.matchAll(/<li><b>(\d)<\/b><span class="pill \w+">(\w+)/g)].map((
    [, n, verdict],
  ) => `${n} ${verdict}`);
  assert.deepEqual(figures, ["1 replays", "2 diverges", "1 unreadable"]);
  assert.match(page, /a&lt;&amp;&gt;\.json/);
  assert.match(page, /src\/changed\.ts:5<\/figcaption>/);
  assert.match(page, /<span class="n">5<\/span><code>[^\n]*acts\.charge\(/);
  assert.equal(page.match(/<article id="run-\d">/g)!.length, 2, "a section for each that diverged");

  const { runs: [sarif], version } = JSON.parse(read("out.sarif"));
  assert.equal(version, "2.1.0");
  assert.deepEqual(sarif.tool.driver.rules.map(({ id }: { id: string }) => id), [
    "nondeterminism",
    "failed",
  ]);
  assert.equal(sarif.results.length, 1);
  const [found] = sarif.results;
  assert.deepEqual([found.ruleId, found.ruleIndex, found.level, found.occurrenceCount], [
    "nondeterminism",
    0,
    "error",
    2,
  ]);
  assert.match(
    found.message.text,
    /^In task 1 your code .*\n.*TMPRL1100.*\n2 runs of Order, for example reported.*, event 5$/,
  );
  assert.deepEqual(found.locations[0].physicalLocation, {
    artifactLocation: { uri: "src/changed.ts", uriBaseId: "%SRCROOT%" },
    region: { startLine: 5, startColumn: 21 },
  });
  const [invocation] = sarif.invocations;
  assert.equal(invocation.executionSuccessful, false);
  assert.equal(
    invocation.toolExecutionNotifications[0].locations[0].physicalLocation.artifactLocation.uri,
    "reported/d.json",
  );

  const annotations = result.out.split("\n").filter((line) => line.startsWith("::"));
  assert.match(
    annotations[0]!,
    /^::error file=src\/changed\.ts,line=5,col=21,title=nondeterminism%3A Order%2C 2 runs::In task 1 your code .*%0A\[TMPRL1100\].*%0Afor example reported/,
  );
  assert.match(annotations[1]!, /^::error file=reported.d\.json,title=unreadable/);
  assert.equal(annotations.length, 2, "one for each line, not for each run");
  assert.doesNotMatch(xml + read("out.sarif") + page + result.out, new RegExp(SECRET));

  const inWorkspace = await run([...args, "--json"], {
    env: { GITHUB_WORKSPACE: join(folder, "src") },
  });
  assert.match(
    inWorkspace.err,
    /^::error file=changed\.ts,line=5/m,
    "with JSON they go to standard error",
  );
  const refused = await run([
    "--workflows",
    "workflows.ts",
    "--junit",
    "nowhere/out.xml",
    "reported/c.json",
  ]);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /--junit nowhere\/out\.xml cannot be written: ENOENT/);
});

test("the HTML report of one history has no values by default, and includes them on request or if the code needs them", async () => {
  write("one.json", jsonOf(order));
  const page = async (workflows: string, ...more: string[]) => {
    const { code } = await run([
      "--workflows",
      workflows,
      "--html",
      "one.html",
      "one.json",
      ...more,
    ]);
    const text = read("one.html");
    assert.deepEqual(strangeIn(text), []);
    return { code, text };
  };
  const redacted = await page("workflows.ts");
  assert.equal(redacted.code, 0);
  assert.match(redacted.text, /<h1>Order .*\n.*>Completed<.*>replays</);
  assert.match(redacted.text, /The run completed/);
  assert.match(redacted.text, /Values are replaced/);
  assert.doesNotMatch(redacted.text, new RegExp(SECRET));
  const whole = await page("workflows.ts", "--html-values");
  assert.match(whole.text, new RegExp(`charged ${SECRET}`));

  // Rules, as of `history redact`: what they name is replaced, and nothing else.
  const byText = await page("workflows.ts", "--html-match", `^${SECRET}$`);
  assert.match(
    byText.text,
    /Values that match the rules are replaced, other values are as recorded/,
  );
  assert.match(byText.text, new RegExp(`charged ${SECRET}`), "the rule is about the whole text");
  const parts = await page("workflows.ts", "--html-match", SECRET);
  assert.doesNotMatch(parts.text, new RegExp(SECRET));
  const kept = await page("workflows.ts", "--html-numbers", "--html-keep", `charged ${SECRET}`);
  assert.match(kept.text, new RegExp(`charged ${SECRET}`));
  assert.match(kept.text, /numbers, too\. One text is kept/);
  const byKey = await page("workflows.ts", "--html-key", "^no key of it$");
  assert.match(byKey.text, new RegExp(`charged ${SECRET}`));

  // Code that takes another way with other texts is not replayed with them.
  write(
    "depends.ts",
    MODULE.replace('  await sleep("1s");', '  if (card.startsWith("4111")) await sleep("1s");'),
  );
  const depends = await page("depends.ts");
  assert.equal(depends.code, 0);
  assert.match(depends.text, />replays<[^]*depends on values that are replaced here/);
  write(
    "depends.ts",
    CHANGED.replace(
      "  return await",
      '  if (card.startsWith("5")) throw new Error(card);\n  return await',
    ),
  );
  const diverged = await page("depends.ts");
  assert.equal(diverged.code, 1);
  assert.match(diverged.text, /your code calls activity charge where/);
  write(
    "depends.ts",
    MODULE.replace(
      '  await sleep("1s");',
      '  if (card.startsWith("4111")) throw new TypeError(card);\n  await sleep("1s");',
    ),
  );
  const failed = await page("depends.ts");
  for (const { text } of [depends, diverged, failed]) assert.doesNotMatch(text, new RegExp(SECRET));

  const refused = await run([
    "--workflows",
    "workflows.ts",
    "--html",
    "nowhere/out.html",
    "one.json",
  ]);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /--html nowhere\/out\.html cannot be written: ENOENT/);
});

test("a divergence without a line of code is reported without one", async () => {
  write("early/a.json", jsonOf(order));
  write("src/early.ts", EARLY);
  const args = [
    "--workflows",
    "src/early.ts",
    "--sarif",
    "early.sarif",
    "--github",
    "--output",
    "text",
    "early",
  ];
  const result = await run(args);
  assert.equal(result.code, 1);
  const { runs: [{ results: [found] }] } = JSON.parse(read("early.sarif"));
  assert.deepEqual(found.locations, [{
    physicalLocation: { artifactLocation: { uri: "src/early.ts", uriBaseId: "%SRCROOT%" } },
  }]);
  assert.match(result.out, /^::error file=src\/early\.ts,title=nondeterminism/m);
});

test("histories of a program with a payload converter replay with --payload-converter", async () => {
  const encoded = (encoding: string) => JSON.stringify(Buffer.from(encoding).toString("base64"));
  write("converted/a.json", jsonOf(order).replaceAll(encoded("json/plain"), encoded("json/own")));
  write(
    "src/own_converter.ts",
    `const utf8 = new TextEncoder(), text = new TextDecoder();
export const payloadConverter = {
  toPayload: (value: unknown) => ({
    metadata: { encoding: utf8.encode("json/own") },
    data: utf8.encode(JSON.stringify(value) ?? "null"),
  }),
  fromPayload: (payload: { data: Uint8Array }) => JSON.parse(text.decode(payload.data)),
};
`,
  );
  const without = await run(["--workflows", "workflows.ts", "converted"]);
  assert.equal(without.code, 1);
  assert.match(
    without.lines[0]!.error!.message,
    /"json\/own".*check that the payload codec and the payload converter are set/,
  );
  assert.equal(
    without.lines[0]!.error!.sentence,
    undefined,
    "the code has not read its arguments: no edit is to blame",
  );
  const given = await run([
    "--workflows",
    "workflows.ts",
    "--payload-converter",
    "src/own_converter.ts",
    "converted",
  ]);
  assert.equal(given.lines[0]!.verdict, "ok");
  assert.equal(given.code, 0);
  const absent = await run([
    "--workflows",
    "workflows.ts",
    "--payload-converter",
    "src/none.ts",
    "converted",
  ]);
  assert.match(absent.err, /none\.ts/);
});

/** Every element ends, attributes are quoted, and no bare `<` or `&` is left. */
function assertWellFormed(xml: string): void {
  const open: string[] = [];
  const rest = xml.replace(/^<\?xml[^?]*\?>/, "").replace(
    /<(\/?)([a-z]+)((?: [a-z]+="[^"<]*")*)(\/?)>/g,
    (_, closing: string, name: string, __: string, empty: string) => {
      if (closing !== "") assert.equal(open.pop(), name);
      else if (empty === "") open.push(name);
      return "";
    },
  );
  assert.deepEqual(open, []);
  assert.doesNotMatch(rest, /[<>]|&(?!(?:amp|lt|gt|quot|#\d+);)/);
}

test("Ctrl-C prints the summary of the histories replayed so far", async () => {
  write("many.jsonl", `${jsonOf(nap)}\n`.repeat(3000));
  const controller = new AbortController();
  let lines = 0;
  let out = "";
  const result = await runCommand([
    "replay",
    "--workflows",
    "workflows.ts",
    "--jobs",
    "1",
    "--json",
    "many.jsonl",
  ], {
    cwd: folder,
    interrupt: controller.signal,
    out: (text) => {
      out += text;
      if (++lines === 20) controller.abort(new Interrupted("SIGINT"));
    },
  });
  assert.equal(result.code, 130);
  const written = out.trim().split("\n").map((line) => JSON.parse(line));
  const { summary } = written.at(-1) as { summary: SummaryLine };
  assert.equal(summary.interrupted, true);
  assert.equal(summary.histories, written.length - 1);
  assert.ok(summary.histories >= 20 && summary.histories < 3000, String(summary.histories));
});

test("progress is an updated line on a terminal; otherwise short work prints none", async () => {
  const args = ["--workflows", "workflows.ts", "--jobs", "1", "--output", "text", "many.jsonl"];
  const shown = await run(args, { terminal: true, errTerminal: true });
  assert.equal(shown.code, 0, shown.err);
  // deno-lint-ignore no-control-regex
  assert.match(shown.err, /\r\x1b\[2Kreplayed \d+: \d+ histories: \d+ ok/);
  assert.match(shown.out, /^3000 histories: 3000 ok \(/m);
  write("one.jsonl", `${jsonOf(nap)}\n`);
  const quiet = await run([...args.slice(0, -1), "one.jsonl"]);
  assert.equal(quiet.err, "");
});
