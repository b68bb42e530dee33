// --codec: `run` writes a store without readable values, `workflow` reads it, and `worker`
// continues its runs.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startCommand } from "./support/process.ts";
import { type Result, run as runCommand } from "./support/run.ts";

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "temporalex-cli-codec-"));
  writeFileSync(
    join(folder, "flows.ts"),
    `import { activities, waitForSignal, workflow } from "temporalex/workflow";
const acts = activities<{ pay(who: string): Promise<string> }>({ startToClose: "10s" });
export const pays = workflow("Pays", async (who: string) => await acts.pay(who));
export const waits = workflow("Waits", async (who: string) => [who, await waitForSignal("go")]);
`,
  );
  writeFileSync(
    join(folder, "bank.ts"),
    "export const pay = async (who: string): Promise<string> => `${who} has paid`;\n",
  );
  writeFileSync(
    join(folder, "codec.ts"),
    `import type { Payload, PayloadCodec } from "temporalex";
const invert = (bytes: Uint8Array): Uint8Array => bytes.map((byte) => byte ^ 0xff);
const encoding = new TextEncoder().encode("binary/inverted");
export const encodeCommonAttributes = true;
export const codec: PayloadCodec = {
  encode: async (payloads) => payloads.map(({ data }: Payload) => ({ metadata: { encoding }, data: invert(data) })),
  decode: async (payloads) => payloads.map((payload) =>
    String(payload.metadata["encoding"]) === String(encoding)
      ? { metadata: { encoding: new TextEncoder().encode("json/plain") }, data: invert(payload.data) }
      : payload),
};
`,
  );
});
after(() => rmSync(folder, { recursive: true, force: true }));

const run = (...args: string[]): Promise<Result> =>
  runCommand([...args, "--store", "s.sqlite"], { cwd: folder });
const coded = (...args: string[]): Promise<Result> => run(...args, "--codec", "codec.ts");
const stored = (): string =>
  readdirSync(folder).filter((name) =>
    name.startsWith("s.sqlite") && statSync(join(folder, name)).isFile()
  )
    .map((name) => readFileSync(join(folder, name)).toString("latin1")).join("");

test("run, show and worker use the codec", async () => {
  const paid = await coded(
    "run",
    "flows.ts",
    "--type",
    "Pays",
    "--activities",
    "bank.ts",
    "-i",
    '"SECRET"',
    "-w",
    "p",
  );
  assert.equal(paid.out, '"SECRET has paid"\n', paid.err);
  assert.ok(stored().includes("binary/inverted") && !stored().includes("SECRET"));

  assert.equal((await coded("workflow", "result", "-w", "p")).out, '"SECRET has paid"\n');
  const without = await run("workflow", "result", "-w", "p");
  assert.ok(
    !without.out.includes("SECRET") && /inverted/.test(without.out + without.err),
    without.out + without.err,
  );

  const args = [
    "worker",
    "--store",
    "s.sqlite",
    "--codec",
    "codec.ts",
    "--workflows",
    "flows.ts",
    "--activities",
    "bank.ts",
    "--json",
  ];
  const worker = startCommand(args, folder);
  try {
    await worker.line("the worker runs", ({ event }) => event === "started");
    assert.equal(
      (await coded("workflow", "start", "--type", "Waits", "-w", "w", "-i", '"SECRET who"')).code,
      0,
    );
    assert.equal(
      (await coded("workflow", "signal", "-w", "w", "--name", "go", "-i", '"SECRET go"')).code,
      0,
    );
    assert.deepEqual(JSON.parse((await coded("workflow", "result", "-w", "w")).out), [
      "SECRET who",
      "SECRET go",
    ]);
  } finally {
    assert.equal(await worker.end("SIGINT"), 0, worker.err());
  }
  assert.ok(!stored().includes("SECRET"));
});

test("the codecs of a Temporal data converter are used", async () => {
  writeFileSync(
    join(folder, "data_converter.ts"),
    'import { codec } from "./codec.ts";\nexport const dataConverter = { payloadCodecs: [codec] };\n',
  );
  const paid = await run(
    "run",
    "flows.ts",
    "--type",
    "Pays",
    "--activities",
    "bank.ts",
    "-i",
    '"SECRET"',
    "-w",
    "d",
    "--codec",
    "codec.ts",
  );
  assert.equal(paid.code, 0, paid.err);
  assert.equal(
    (await run("workflow", "result", "-w", "d", "--codec", "data_converter.ts")).out,
    '"SECRET has paid"\n',
  );
});

test("an invalid codec is rejected before anything is started", async () => {
  writeFileSync(join(folder, "none.ts"), "export const codec = { encode: 1 };\n");
  const refused = await run("run", "flows.ts", "--type", "Pays", "--codec", "none.ts", "-i", '"x"');
  assert.equal(refused.code, 2);
  assert.match(
    refused.err,
    /none\.ts: a payload codec is an object with the functions `encode` and `decode`/,
  );
  writeFileSync(join(folder, "class.cjs"), "exports.Codec = class { encode() {} decode() {} };\n");
  const exported = await run("workflow", "list", "--codec", "class.cjs");
  assert.equal(exported.code, 2);
  assert.match(
    exported.err,
    /class\.cjs exports no codec: export it as `codec`, with encode and decode/,
  );
});
