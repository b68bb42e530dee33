// `temporalex replay --values`: changed values in each form of output, exit codes, rules, codecs.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import type { ReplayLine, SummaryLine } from "../../../ts/cli/commands/replay/run.ts";
import { withRealm } from "../../cases/realm_host.ts";
import { run as runCommand } from "./support/run.ts";

const SECRET = "4111-1111-1111-1111";
const MODULE = `import { activities, sleep, workflow } from "temporalex/workflow";
interface Acts { charge(order: object): Promise<string> }
const acts = activities<Acts>({ startToClose: "1m" });
export const order = workflow("Order", async (card: string): Promise<string> => {
  await sleep("1s");
  return await acts.charge({ card, cents: 1200, id: "a" });
});
`;
const PRICED = MODULE.replace("1200", "1300").replace('"a"', '"b"');
const BROKEN = MODULE.replace('await sleep("1s");', "");

let folder = "";
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "temporalex-values-"));
  const write = (name: string, content: string | Uint8Array) => {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), content);
  };
  let order!: Uint8Array;
  await withRealm(MODULE, async (h) => {
    const run = h.start("Order", { args: [SECRET] });
    await run.task();
    run.server.fireTimer("1");
    await run.task();
    run.server.completeActivity("1", "charged");
    await run.task();
    order = run.server.history();
  });
  for (const i of [1, 2]) write(`all/order-${i}.bin`, order);
  const encoded = fromBinary(HistorySchema, order);
  for (const { attributes } of encoded.events) {
    if (attributes.case !== "activityTaskScheduledEventAttributes") continue;
    for (const payload of attributes.value.input!.payloads) {
      payload.metadata["encoding"] = new TextEncoder().encode("binary/flipped");
      payload.data = payload.data.map((byte) => byte ^ 1);
    }
  }
  write("encoded.bin", toBinary(HistorySchema, encoded));
  write("workflows.ts", MODULE);
  write("priced.ts", PRICED);
  write("broken.ts", BROKEN);
  write(
    "codec.ts",
    `const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
export const codec = {
  encode: (payloads: unknown[]) => Promise.resolve(payloads),
  decode: (payloads: { metadata: Record<string, Uint8Array>; data: Uint8Array }[]) =>
    Promise.resolve(payloads.map((payload) =>
      text(payload.metadata.encoding!) !== "binary/flipped" ? payload : {
        metadata: { ...payload.metadata, encoding: new TextEncoder().encode("json/plain") },
        data: payload.data.map((byte) => byte ^ 1),
      })),
};
`,
  );
  write("ids.json", '{ "ignore": [{ "name": "ids", "type": "charge", "path": "**.id" }] }');
  write("all.json", '{ "ignore": [{ "path": "input" }] }');
  write("wrong.json", '{ "ignore": [{ "name": "ids", "path": "inputs" }] }');
  write("list.json", "[]");
  write("cut.json", '{ "ignore": [');
});
after(() => rmSync(folder, { recursive: true, force: true }));

interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly lines: readonly ReplayLine[];
  readonly summary: SummaryLine;
}

async function run(module: string, ...args: readonly string[]): Promise<Result> {
  const words = ["replay", "--workflows", module, "--jobs", "1", ...args];
  const result = await runCommand(words, { cwd: folder });
  const lines = result.out.split("\n").filter((line) => line.startsWith("{")).map((line) =>
    JSON.parse(line)
  );
  return { ...result, lines: lines.slice(0, -1), summary: lines.at(-1)?.summary };
}

test("--values reports changed values as JSON; warn keeps the exit code, error exits with 1", async () => {
  const plain = await run("priced.ts", "all");
  assert.equal(plain.code, 0);
  assert.deepEqual(plain.lines.map(({ verdict }) => verdict), ["ok", "ok"]);
  assert.equal("changedValues" in plain.lines[0]!, false);
  assert.equal("changedValues" in plain.summary, false);
  assert.equal("changed" in plain.summary.verdicts, false);

  for (const option of ["--values", "--values=warn"]) {
    const warned = await run("priced.ts", option, "all");
    assert.equal(warned.code, 0, warned.err);
    assert.deepEqual(warned.lines.map(({ verdict }) => verdict), ["ok", "ok"]);
    const [changed, ...rest] = warned.lines[0]!.changedValues!;
    assert.deepEqual(rest, []);
    assert.equal(changed!.step, "activity charge");
    assert.match(changed!.location, /priced\.ts:6:/);
    assert.equal(
      changed!.sentence,
      'The code now has input.cents 1300, input.id "b"; the history has 1200, "a".',
    );
    assert.deepEqual(changed!.differences, [
      { path: "input[0].cents", history: "1200", code: "1300" },
      { path: "input[0].id", history: '"a"', code: '"b"' },
    ]);
    const { histories, groups } = warned.summary.changedValues!;
    assert.equal(histories, 2);
    assert.deepEqual(
      groups.map(({ runs, place, paths }) => [runs, place!.file, place!.line, paths]),
      [[2, "priced.ts", 6, ["input[0].cents", "input[0].id"]]],
    );
  }
  const failed = await run("priced.ts", "--values=error", "all");
  assert.equal(failed.code, 1);
  assert.deepEqual(failed.lines.map(({ verdict }) => verdict), ["changed", "changed"]);
  assert.equal(failed.summary.verdicts.changed, 2);
  assert.equal((await run("workflows.ts", "--values=error", "all")).code, 0);
});

test("text, JUnit, SARIF and annotations contain the line and both values", async () => {
  for (const level of ["warn", "error"]) {
    const files = ["--junit", "j.xml", "--sarif", "s.json", "--github", "--output", "text"];
    const { out, code } = await run("priced.ts", `--values=${level}`, ...files, "all");
    assert.equal(code, level === "warn" ? 0 : 1);
    const said = 'The code now has input.cents 1300, input.id "b"; the history has 1200, "a".';
    assert.match(
      out,
      /changed value \(event \d+, activity charge\): The code now has input\.cents/,
    );
    assert.match(out, /at .*priced\.ts:6:/);
    assert.match(
      out,
      /^input\[0\]\.cents, input\[0\]\.id +activity charge +Order +priced\.ts:6 +2/m,
    );
    assert.match(out, /2 histories: 2 (ok|changed), 2 with changed values/);
    const kind = level === "warn" ? "warning" : "error";
    assert.ok(out.includes(`::${kind} file=priced.ts,line=6,`), out);
    assert.ok(out.includes(`::${said}%0Afor example`), out);
    const junit = readFileSync(join(folder, "j.xml"), "utf8");
    assert.match(junit, level === "warn" ? /failures="0"/ : /failures="2"/);
    assert.match(
      junit,
      level === "warn" ? /<system-out>The code now/ : /<failure message="The code/,
    );
    assert.match(junit, /input\.cents 1300.*1200.*priced\.ts:6:/);
    const sarif = JSON.parse(readFileSync(join(folder, "s.json"), "utf8")).runs[0];
    const [result] = sarif.results;
    assert.equal(sarif.tool.driver.rules[result.ruleIndex].id, "changedValue");
    assert.deepEqual([result.ruleId, result.level], ["changedValue", kind]);
    assert.ok(result.message.text.startsWith(said));
    const { region, artifactLocation } = result.locations[0].physicalLocation;
    assert.deepEqual([artifactLocation.uri, region.startLine], ["priced.ts", 6]);
    assert.equal(result.occurrenceCount, 2);
  }
});

test("--values-rules leaves values out, and an invalid file is rejected with the rule", async () => {
  const some = await run("priced.ts", "--values=error", "--values-rules", "ids.json", "all");
  assert.equal(some.code, 1);
  assert.deepEqual(
    some.lines[0]!.changedValues![0]!.differences.map(({ path }) => path),
    ["input[0].cents"],
  );
  const none = await run("priced.ts", "--values=error", "--values-rules", "all.json", "all");
  assert.equal(none.code, 0);
  for (
    const [file, message] of [
      ["wrong.json", /--values-rules wrong\.json: ignore\[0\] "ids": path begins with "inputs"/],
      ["list.json", /--values-rules list\.json: the file has no rules; expected \{ "ignore"/],
      ["cut.json", /--values-rules cut\.json: the file is not valid JSON/],
      ["none.json", /--values-rules none\.json: .*ENOENT/],
    ] as const
  ) {
    const { code, err } = await run("priced.ts", "--values", "--values-rules", file, "all");
    assert.equal(code, 2);
    assert.match(err, message);
  }
  const alone = await run("priced.ts", "--values-rules", "ids.json", "all");
  assert.equal(alone.code, 2);
  assert.match(alone.err, /--values-rules needs --values/);
});

test("unknown values of --values are rejected with the allowed ones; help names them", async () => {
  const unknown = await run("priced.ts", "--values=fail", "all");
  assert.equal(unknown.code, 2);
  assert.match(unknown.err, /--values is one of warn, error, not "fail"/);
  const spaced = await run("priced.ts", "--values", "error", "all");
  assert.equal(spaced.code, 2);
  assert.match(spaced.err, /write --values=error, with "="/);
  const help = await runCommand(["replay", "--help"], { cwd: folder });
  assert.match(help.out, /--values\[=warn\|error\]/);
  assert.match(help.out, /--values-rules <file>/);
});

test("encoded values are compared after decoding, and without the codec they are named", async () => {
  const without = await run("priced.ts", "--values=error", "encoded.bin");
  assert.equal(without.code, 0, without.out);
  assert.deepEqual(without.lines[0]!.warnings.map(({ message }) => message), [
    "1 value was not compared: the encoding is binary/flipped; --codec decodes values",
  ]);
  const decoded = await run("priced.ts", "--values=error", "--codec", "codec.ts", "encoded.bin");
  assert.equal(decoded.code, 1);
  assert.deepEqual(decoded.lines[0]!.warnings, []);
  assert.equal(decoded.lines[0]!.changedValues!.length, 1);
  const same = await run("workflows.ts", "--values=error", "--codec", "codec.ts", "encoded.bin");
  assert.equal(same.code, 0);
});

test("without --values no output contains a value, and a divergence stays one", async () => {
  const plain = await run("priced.ts", "all");
  assert.doesNotMatch(plain.out + plain.err, /1200|1300|4111/);
  const changed = await run("priced.ts", "--values", "all");
  assert.doesNotMatch(changed.out + changed.err, /4111/, "unchanged values are not part of it");
  const broken = await run("broken.ts", "--values=error", "all");
  assert.equal(broken.code, 1);
  assert.deepEqual(broken.lines.map(({ verdict }) => verdict), [
    "nondeterminism",
    "nondeterminism",
  ]);
});

test("--versions with --values=error finds the first version that changes values", async () => {
  const words = ["--versions", "workflows.ts", "--versions", "priced.ts", "--output", "text"];
  const args = ["replay", ...words, "--values=error", "all"];
  const { code, out } = await runCommand(args, { cwd: folder });
  assert.equal(code, 1, out);
  assert.match(out, /priced\.ts is the first version/);
});
