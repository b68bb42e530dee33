// The replay command: verdicts, lines, exit codes, settings, and what it refuses.
// takes: 14 s
// runtime: node (long; shorter files of this room run in each runtime)
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { fromBinary, toJson } from "@bufbuild/protobuf";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import type { PayloadCodec } from "../../../ts/codec/codec.ts";
import { MessageCodec } from "../../../ts/codec/message_codec.ts";
import type { ReplayLine, SummaryLine } from "../../../ts/cli/commands/replay/run.ts";
import { endsComputingThreads } from "../../../ts/platform/threads.ts";
import { withRealm } from "../../cases/realm_host.ts";
import { withProgram } from "../../cases/temporal_program_support.ts";
import { run as runCommand, type RunOptions } from "./support/run.ts";

let folder = "";
before(() => (folder = mkdtempSync(join(tmpdir(), "temporalex-replay-"))));
after(() => rmSync(folder, { recursive: true, force: true }));

const module = (body: string): string =>
  `import { activities, patched, sideEffect, sleep, workflow } from "temporalex/workflow";
interface Acts { charge(cents: number): Promise<string> }
const acts = activities<Acts>({ startToClose: "1m" });
export const order = workflow("Order", async (cents: number): Promise<string> => {
${body}
});
`;
const BODY = `  await sleep("1s");
  const receipt = await acts.charge(cents);
  return receipt;`;

function write(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, content);
  return path;
}

/** A whole run of the module, as bytes. */
function record(body = BODY): Promise<Uint8Array> {
  return withRealm(module(body), async (h) => {
    const run = h.start("Order", { args: [250] });
    await run.task();
    run.server.fireTimer("1");
    await run.task();
    run.server.completeActivity("1", "receipt");
    await run.task();
    assert.equal(run.server.closed?.result, "receipt", run.failure);
    return run.server.history();
  });
}

const asJson = (bytes: Uint8Array): string =>
  JSON.stringify(toJson(HistorySchema, fromBinary(HistorySchema, bytes)));

interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly lines: ReplayLine[];
  readonly summary: SummaryLine | undefined;
}

async function run(args: readonly string[], options: RunOptions = {}): Promise<Result> {
  const result = await runCommand(args, { cwd: folder, ...options });
  const lines = options.terminal === true
    ? []
    : result.out.split("\n").filter((line) => line.startsWith("{")).map((line) =>
      JSON.parse(line) as ReplayLine & { summary?: SummaryLine }
    );
  const summary = lines.at(-1)?.summary;
  return { ...result, lines: lines.filter((line) => line.summary === undefined), summary };
}

test("verdicts, lines and exit codes", async () => {
  const bytes = await record();
  write("ok.json", asJson(bytes));
  write("ok.bin", bytes);
  write("ok.json.gz", gzipSync(asJson(bytes)));
  write("bad.json", asJson(bytes).slice(0, 500));
  write("same.ts", module(BODY));
  write("changed.ts", module(BODY.replace('await sleep("1s");\n  const', "const")));
  write("throws.ts", module('  await sleep("1s");\n  throw new TypeError("oh no");'));
  write("waits.ts", module('  await sleep("1s");\n  await new Promise(() => {});\n  return "";'));
  write(
    "fetches.ts",
    module('  await sleep("1s");\n  await fetch("http://localhost/");\n  return "";'),
  );
  write("other.ts", module(BODY).replace('"Order"', '"Invoice"'));

  const all = await run([
    "replay",
    "--workflows",
    "same.ts",
    "--json",
    "ok.json",
    "ok.bin",
    "ok.json.gz",
  ]);
  assert.equal(all.code, 0, all.out + all.err);
  const { ms: _, ...summary } = all.summary!;
  assert.deepEqual(summary, {
    histories: 3,
    verdicts: { ok: 3, nondeterminism: 0, failed: 0, unreadable: 0 },
    warned: 1,
    events: 48,
    gone: 0,
    interrupted: false,
    groups: [],
  });
  const { workflowId, runId } = all.lines[0]!;
  assert.ok(workflowId !== "" && runId !== "");
  const facts = { workflowType: "Order", workflowId, runId, events: 16, activations: 3 };
  assert.deepEqual(
    all.lines.map((
      { ms, warnings, ...line },
    ) => (assert.ok(ms >= 0), assert.ok(Array.isArray(warnings)), line)),
    [
      { file: "ok.json", ...facts, verdict: "ok" },
      { file: "ok.bin", ...facts, verdict: "ok" },
      { file: "ok.json.gz", ...facts, verdict: "ok" },
    ],
  );

  const changed = await run(["replay", "--workflows", "changed.ts", "ok.json"]);
  assert.equal(changed.code, 1);
  const { verdict, error } = changed.lines[0]!;
  assert.equal(verdict, "nondeterminism");
  assert.match(error!.message, /TMPRL1100/);
  assert.ok(error!.code > 0);
  assert.equal(error!.eventId, 5);
  assert.match(error!.location, /changed\.ts:5:/, "the line of acts.charge");
  assert.equal(error!.firstTask, 1);
  assert.match(
    error!.sentence!,
    /^In task 1 your code calls activity charge where history has a timer of .* \(event 5\): changed\.ts:5\. /,
  );
  assert.match(error!.edit!.confidence, /^(?:verified|likely|guess)$/);
  assert.ok(error!.expected !== "" && error!.actual !== "", JSON.stringify(error));

  for (
    const [file, expected, location] of [
      ["throws.ts", /oh no/, /throws\.ts:6:/],
      ["waits.ts", /DEADLOCK/, /^$|waits\.ts/],
      ["fetches.ts", /fetch\(\) is not available in workflow code: .*activity/, /fetches\.ts:6:/],
      ["other.ts", /"Order" is not known.*"Invoice"/, /^/],
    ] as const
  ) {
    const failed = await run(["replay", "--workflows", file, "ok.json"]);
    assert.equal(failed.code, 1, file);
    assert.equal(failed.lines[0]!.verdict, "failed", file);
    assert.match(failed.lines[0]!.error!.message, expected, file);
    assert.match(failed.lines[0]!.error!.location, location, file);
  }

  const mixed = await run([
    "replay",
    "--workflows",
    "changed.ts",
    "ok.json",
    "bad.json",
    "nowhere.json",
  ]);
  assert.equal(mixed.code, 2, "an unreadable file wins");
  assert.deepEqual(mixed.lines.map((l) => l.verdict), [
    "nondeterminism",
    "unreadable",
    "unreadable",
  ]);
  assert.match(mixed.lines[1]!.error!.message, /ends unexpectedly/);
  assert.match(mixed.lines[2]!.error!.message, /no such file/);
  assert.deepEqual(Object.keys(mixed.lines[1]!).sort(), [
    "activations",
    "error",
    "events",
    "file",
    "ms",
    "runId",
    "verdict",
    "warnings",
    "workflowId",
    "workflowType",
  ]);
  assert.deepEqual(Object.keys(mixed.lines[1]!.error!).sort(), [
    "actual",
    "code",
    "eventId",
    "expected",
    "location",
    "message",
  ]);
});

test("a workflow that never yields fails its verdict, and the next history is replayed", async () => {
  const bytes = await record();
  write("spin/ok.bin", bytes);
  write(
    "spin/spins.ts",
    module(
      '  await sleep("1s");\n  if (cents === 250) for (let i = 0; i < 1.5e10; i++);\n  return "";',
    ),
  );
  const result = await run([
    "replay",
    "--workflows",
    "spin/spins.ts",
    "spin/ok.bin",
    "spin/ok.bin",
  ]);
  assert.equal(result.code, 1);
  assert.equal(result.lines.length, 2);
  for (const line of result.lines) {
    assert.equal(line.verdict, "failed");
    assert.match(line.error!.message, /workflow "Order" .*ran for 2 s without yielding/);
    // Deno does not end a thread that computes, so it is not done again to find the line.
    assert.match(line.error!.location, endsComputingThreads() ? /spins\.ts:6:/ : /^$/);
  }
});

test("extra commands are warnings, and fail under --strict", async () => {
  const bytes = await record();
  write("strict/ok.bin", bytes);
  write(
    "strict/extra.ts",
    module(
      `${
        BODY.replace(
          "return receipt;",
          'void sleep("5s");\n  await acts.charge(1);\n  return receipt;',
        )
      }`,
    ),
  );
  const lenient = await run(["replay", "--workflows", "strict/extra.ts", "strict/ok.bin"]);
  const strict = await run([
    "replay",
    "--workflows",
    "strict/extra.ts",
    "--strict",
    "strict/ok.bin",
  ]);
  assert.equal(strict.code, 1);
  assert.equal(strict.lines[0]!.verdict, "nondeterminism");
  assert.ok(
    lenient.lines[0]!.verdict === "nondeterminism" || lenient.lines[0]!.warnings.length > 0,
    lenient.out,
  );
});

test("without modules on the command line, those of package.json are used", async () => {
  const bytes = await record();
  write("app/history.bin", bytes);
  write("app/src/order.ts", module(BODY));
  write("app/src/deep/deeper/x.txt", "");
  write(
    "app/package.json",
    JSON.stringify({ name: "app", temporalex: { workflows: ["./src/order.ts"] } }),
  );
  const cwd = join(folder, "app/src/deep/deeper");
  const result = await run(["replay", join(folder, "app/history.bin")], { cwd });
  assert.equal(result.code, 0, result.out + result.err);
  write(
    "app/package.json",
    JSON.stringify({ name: "app", temporalex: { workflows: "src/order.ts" } }),
  );
  assert.equal((await run(["replay", "../../../history.bin"], { cwd })).code, 0);
  for (
    const [text, expected] of [
      [
        JSON.stringify({ name: "app" }),
        /names no workflow modules; name the workflow modules with --workflows/,
      ],
      [
        JSON.stringify({ temporalex: { workflows: [] } }),
        /must be the path of a module or a list of paths/,
      ],
      [JSON.stringify({ temporalex: { workflows: 3 } }), /must be the path of a module/],
      ["{", /is not valid JSON/],
    ] as const
  ) {
    write("app/package.json", text);
    const refused = await run(["replay", "../../../history.bin"], { cwd });
    assert.equal(refused.code, 2);
    assert.match(refused.err, expected);
  }
});

test("wrong usage exits with code 2 and a message on standard error", async () => {
  write("usage/ok.ts", module(BODY));
  write("usage/broken.ts", "const = 1;");
  write("usage/imports.ts", 'import "node:fs";\nimport "./nowhere.ts";');
  write("usage/empty.ts", "export const x = 1;");
  for (
    const [args, expected] of [
      [[], /usage: temporalex/],
      [["repaly"], /unknown command "repaly"; commands: .*\breplay\b/],
      [["replay"], /no history was named/],
      [["replay", "--workflows", "usage/ok.ts"], /no history was named/],
      [["replay", "--nope", "x.json"], /Unknown option '--nope'/],
      [["replay", "--workflows"], /--workflows/],
      [["replay", "--json=yes", "x.json"], /json/],
      [["replay", "--workflows", "usage/nowhere.ts", "x.json"], /nowhere\.ts: no such file/],
      [["replay", "--workflows", "usage/broken.ts", "x.json"], /broken\.ts:1:7: syntax error/],
      [
        ["replay", "--workflows", "usage/imports.ts", "x.json"],
        /imports\.ts:1: imports "node:fs".*\n.*imports\.ts:2: imports "\.\/nowhere\.[jt]s"/,
      ],
      [
        ["replay", "--workflows", "usage/empty.ts", "x.json"],
        /the workflow module \S*empty\.ts exports no workflow/,
      ],
    ] as const
  ) {
    const result = await run(args);
    assert.equal(result.code, 2, args.join(" "));
    assert.match(result.err, expected, args.join(" "));
    assert.equal(result.out, "", args.join(" "));
  }
});

test("help, with examples", async () => {
  for (const args of [["--help"], ["-h"], ["help"]]) {
    const result = await run(args);
    assert.equal(result.code, 0);
    assert.match(result.out, /replay\s+replay histories against current workflow code/);
  }
  const help = await run(["replay", "--help"]);
  assert.equal(help.code, 0);
  assert.match(help.out, /Examples:\n {2}temporalex replay --workflows/);
});

test("on a terminal the output is for people, in color if wanted", async () => {
  const bytes = await record();
  write("people/ok.bin", bytes);
  write("people/same.ts", module(BODY));
  write("people/changed.ts", module(BODY.replace('await sleep("1s");\n', "")));
  const args = ["people/ok.bin", "people/nowhere.bin"];
  const plain = await run(["replay", "--workflows", "people/changed.ts", ...args], {
    terminal: true,
  });
  assert.equal(plain.code, 2);
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(plain.out, /\x1b|^\{/m);
  assert.match(plain.out, /^nondeterminism +people\/ok\.bin +Order, 16 events/m);
  assert.match(plain.out, /^ {4}at .*changed\.ts:\d+:\d+/m);
  assert.match(plain.out, /^unreadable +people\/nowhere\.bin\n {4}no such file/m);
  const colored = await run(["replay", "--workflows", "people/same.ts", "people/ok.bin"], {
    terminal: true,
    colors: true,
  });
  // deno-lint-ignore no-control-regex
  assert.match(colored.out, /^\x1b\[32mok +\x1b\[0m +people\/ok\.bin/);
  const json = await run(["replay", "--json", "--workflows", "people/same.ts", "people/ok.bin"], {
    terminal: true,
    colors: true,
  });
  assert.match(json.out, /^\{"file":"people\/ok\.bin"/);
});

test("the command works as an executable", async () => {
  const bytes = await record();
  write("program/ok.bin", bytes);
  write("program/order.ts", module(BODY));
  const deno = "Deno" in globalThis;
  const program = deno ? ["run", "-A", "--no-check", "ts/cli/main.ts"] : ["dist/ts/cli/main.js"];
  const spawn = (...args: string[]) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      execFile(
        process.execPath,
        [...program, "replay", ...args],
        { env: { ...process.env, FORCE_COLOR: "1" } },
        (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
    });
  const ok = await spawn(
    "--workflows",
    join(folder, "program/order.ts"),
    join(folder, "program/ok.bin"),
  );
  assert.equal(ok.code, 0, ok.stderr);
  assert.equal(ok.stdout.split("\n").length, 3);
  const first = ({ stdout }: { stdout: string }) =>
    JSON.parse(stdout.split("\n")[0]!) as ReplayLine;
  assert.equal(first(ok).verdict, "ok");
  const missing = await spawn(
    "--workflows",
    join(folder, "program/order.ts"),
    join(folder, "program/nowhere.bin"),
  );
  assert.equal(missing.code, 2);
  assert.equal(first(missing).verdict, "unreadable");
  assert.equal((await spawn()).code, 2);
});

test("an encoded history is replayed with the codec module", async () => {
  const inverting = `const invert = (bytes) => bytes.map((byte) => byte ^ 0xff);
const encoding: Uint8Array = new TextEncoder().encode("binary/inverted");
export const codec = {
  encode: (payloads) => Promise.resolve(payloads.map(({ data }) => ({ metadata: { encoding }, data: invert(data) }))),
  decode: (payloads) => Promise.resolve(payloads.map((payload) =>
    String(payload.metadata.encoding) === String(encoding)
      ? { metadata: { encoding: new TextEncoder().encode("json/plain") }, data: invert(payload.data) }
      : payload)),
};`;
  write("codec.ts", inverting);
  const codec = await import(
    pathToFileURL(write("codec.mjs", inverting.replace(": Uint8Array", ""))).href
  ) as {
    codec: PayloadCodec;
  };
  write("encoded.bin", await MessageCodec.of(codec)!.encode(HistorySchema, await record()));
  write("same.ts", module(BODY));
  const good = await run([
    "replay",
    "--workflows",
    "same.ts",
    "--codec",
    "codec.ts",
    "encoded.bin",
  ]);
  assert.equal(good.code, 0, good.out + good.err);
  const without = await run(["replay", "--workflows", "same.ts", "encoded.bin"]);
  assert.equal(without.code, 1);
  assert.match(without.lines[0]!.error!.message, /binary\/inverted.*check that the payload codec/);
  assert.equal(
    without.lines[0]!.error!.sentence,
    undefined,
    "the code has not read its arguments: no edit is to blame",
  );

  write(
    "throws_codec.ts",
    `export default { encode() {}, decode() { throw new Error("no key k1"); } };`,
  );
  const locked = await run([
    "replay",
    "--workflows",
    "same.ts",
    "--codec",
    "throws_codec.ts",
    "encoded.bin",
  ]);
  assert.equal(locked.code, 2);
  assert.match(locked.lines[0]!.error!.message, /could not decode .*no key k1/);
  write("no_codec.ts", `export const codecs = [];`);
  for (
    const [file, message] of [["no_codec.ts", /exports no codec/], [
      "missing.ts",
      /module not found: missing.ts/,
    ]] as const
  ) {
    const refused = await run(["replay", "--workflows", "same.ts", "--codec", file, "encoded.bin"]);
    assert.equal(refused.code, 2);
    assert.match(refused.err, message);
  }
});

test("--interceptors: a history recorded with interceptors replays only with them", async () => {
  const program =
    `import { sleep } from "@temporalio/workflow";\nexport async function w() { await sleep(1000); return 1; }\n`;
  const interceptors = `import { sleep } from "@temporalio/workflow";
export const interceptors = () => ({ inbound: [{ async execute(input: any, next: any) { await sleep(5000); return await next(input); } }] });
`;
  const history = await withProgram(
    { "/app/main.ts": program, "/app/i.ts": interceptors },
    async (h) => {
      const run = h.start("w");
      for (const timer of ["1", "2"]) {
        await run.task();
        run.server.fireTimer(timer);
      }
      await run.task();
      assert.equal(run.server.closed?.result, 1, run.failure);
      return run.server.history();
    },
    { interceptors: "/app/i.ts" },
  );
  const args = [
    "replay",
    write("intercepted.binpb", history),
    "--workflows",
    write("intercepted.ts", program),
    "--json",
  ];
  const path = write("interceptors.ts", interceptors);
  assert.deepEqual(
    (await run([...args, "--interceptors", path])).lines.map(({ verdict }) => verdict),
    ["ok"],
  );
  assert.deepEqual((await run(args)).lines.map(({ verdict }) => verdict), ["nondeterminism"]);
});
