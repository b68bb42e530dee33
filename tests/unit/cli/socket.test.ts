// runtime: node
// The socket next to a store: processes of Node and Deno in every combination, access rights, and
// the files that a killed holder leaves.
// takes: 21 s
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { connect as http2Connect } from "node:http2";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  closesSocketsTwice,
  findHolder,
  placePort,
  placeSocket,
  removePort,
  removeSocket,
} from "../../../ts/app/socket_path.ts";
import { until } from "../../support/until.ts";

/** How each runtime runs one of our modules, given from the folder of sources. */
type Runtime = (module: string) => string[];
const dist = fileURLToPath(new URL("../../../", import.meta.url));
const root = join(dist, "..");
const node: Runtime = (
  module,
) => [process.execPath, "--no-warnings", join(dist, module.replace(/\.ts$/, ".js"))];
const denoBinary = join(root, "node_modules/deno/deno");
const deno: Runtime = (
  module,
) => [
  denoBinary,
  "run",
  "-A",
  "--no-check",
  "--quiet",
  "--config",
  join(root, "deno.json"),
  join(root, module),
];
const hasDeno = existsSync(denoBinary);
const denoVersion = hasDeno
  ? /^deno (\S+)/.exec(execFileSync(denoBinary, ["--version"], { encoding: "utf8" }))?.[1]
  : undefined;
const RUNTIMES: { readonly [name: string]: Runtime } = { node, ...(hasDeno && { deno }) };

let folder = "";
const children = new Set<ChildProcess>();
before(() => (folder = mkdtempSync(join(tmpdir(), "temporalex-socket-"))));
after(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

interface Ran {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  readonly ended: Promise<number | null>;
}

function start(runtime: Runtime, module: string, args: readonly string[]): Ran {
  const [command, ...words] = runtime(module);
  const child = spawn(command!, [...words, ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1" },
  });
  children.add(child);
  let out = "", err = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (err += text));
  const ended = new Promise<number | null>((resolve) =>
    child.on("close", (code) => {
      children.delete(child);
      resolve(code);
    })
  );
  return { child, out: () => out, err: () => err, ended };
}

/** A process that has the store open, with a worker. */
async function hold(
  runtime: Runtime,
  store: string,
  umask?: number,
): Promise<Ran & { address: string }> {
  const holder = start(runtime, "tests/unit/cli/flows/hold.ts", [
    store,
    ...(umask === undefined ? [] : [String(umask)]),
  ]);
  await until(
    "the holder serves",
    () => holder.out().includes("served") || holder.child.exitCode !== null,
  );
  assert.match(holder.out(), /served/, holder.err());
  return { ...holder, address: /served (.*)/.exec(holder.out())![1]! };
}

async function command(
  runtime: Runtime,
  ...args: string[]
): Promise<{ code: number | null; out: string; err: string }> {
  const ran = start(runtime, "ts/cli/main.ts", args);
  return { code: await ran.ended, out: ran.out(), err: ran.err() };
}

async function ok(runtime: Runtime, ...args: string[]): Promise<string> {
  const { code, out, err } = await command(runtime, ...args);
  assert.equal(code, 0, `${args.join(" ")}: ${err}`);
  return out;
}

const kill = async (ran: Ran, signal: "SIGKILL" | "SIGTERM" | "SIGINT") => {
  ran.child.kill(signal);
  return await ran.ended;
};

for (const [holding, holder] of Object.entries(RUNTIMES)) {
  test(`${holding} holds a store, and processes of ${Object.keys(RUNTIMES).join(" and ")} use it`, async () => {
    const store = join(folder, `mixed-${holding}.sqlite`);
    const held = await hold(holder, store);
    const port = holding === "deno" && closesSocketsTwice(denoVersion);
    if (port) assert.match(held.address, /^127\.0\.0\.1:\d+$/);
    else assert.equal(held.address, `${store}-socket`);
    for (const [calling, caller] of Object.entries(RUNTIMES)) {
      const at = ["-w", `cart-${calling}`, "--store", store];
      await ok(caller, "workflow", "start", "--type", "Cart", "-i", `"${calling}"`, ...at);
      const result = command(caller, "workflow", "result", ...at);
      assert.equal(await ok(caller, "workflow", "query", "--name", "status", ...at), '"open"\n');
      assert.equal(
        await ok(caller, "workflow", "update", "--name", "add_item", "-i", '"BOOK"', ...at),
        "1\n",
      );
      await ok(caller, "workflow", "signal", "--name", "checkout", ...at);
      assert.match((await result).out, new RegExp(`${calling} pays for BOOK`));
    }
    assert.equal(await kill(held, "SIGTERM"), 0, held.err());
    assert.ok(
      !existsSync(`${store}-socket`) && !existsSync(`${store}-port`),
      "an orderly end leaves nothing",
    );
  });
}

test("versions of Deno that can close an unrelated file with a socket do not use sockets", () => {
  const twice = ["2.8.0", "2.8.3", "2.9.0", "2.9.5"];
  const once = [undefined, "2.7.14", "2.9.6", "2.10.0", "3.8.0"];
  assert.deepEqual([...twice, ...once].filter(closesSocketsTwice), twice);
});

test("only the owner can use the socket, whatever the umask", async () => {
  const store = join(folder, "owner.sqlite");
  const held = await hold(node, store, 0);
  const stat = statSync(`${store}-socket`);
  assert.ok(stat.isSocket());
  assert.equal(stat.mode & 0o777, 0o600);
  assert.ok(!existsSync(`${store}-socket.new`), "the folder in which it was made is gone");
  await kill(held, "SIGTERM");
});

test("a killed holder leaves a socket that blocks no process, and the next holder replaces it", async () => {
  const store = join(folder, "killed.sqlite");
  const at = ["--store", store];
  const first = await hold(node, store);
  await ok(node, "workflow", "start", "--type", "Cart", "-w", "c", "-i", '"ada"', ...at);
  await kill(first, "SIGKILL");
  assert.ok(existsSync(`${store}-socket`), "no process was left to remove it");
  // No holder: the command opens the store itself.
  assert.match(await ok(node, "workflow", "describe", "-w", "c", ...at), /Status +Running/);
  await ok(node, "workflow", "signal", "-w", "c", "--name", "checkout", ...at);
  // Also with the remains of a folder in which a socket was being made.
  mkdirSync(`${store}-socket.new`);
  writeFileSync(join(`${store}-socket.new`, "s"), "");
  const second = await hold(hasDeno ? deno : node, store);
  const noteFile = `${store}-${second.address.endsWith("-socket") ? "socket" : "port"}`;
  assert.equal(statSync(noteFile).mode & 0o777, 0o600);
  assert.match(await ok(node, "workflow", "result", "-w", "c", ...at), /ada pays for/);
  await kill(second, "SIGKILL");
});

test("waiting calls survive the death of the holder and get the response of the next holder", async () => {
  const store = join(folder, "handover.sqlite");
  const at = ["-w", "c", "--store", store];
  const first = await hold(node, store);
  await ok(node, "workflow", "start", "--type", "Cart", "-i", '"ada"', ...at);
  const result = start(node, "ts/cli/main.ts", ["workflow", "result", ...at]);
  const follow = start(hasDeno ? deno : node, "ts/cli/main.ts", [
    "workflow",
    "show",
    "--follow",
    ...at,
  ]);
  await until("the history is followed", () => follow.out().includes("WorkflowTaskCompleted"));
  await kill(first, "SIGKILL");
  const second = await hold(node, store);
  assert.equal(await kill(second, "SIGTERM"), 0);
  const third = await hold(node, store);
  await ok(node, "workflow", "signal", "--name", "checkout", ...at);
  assert.equal(await result.ended, 0, result.err());
  assert.match(result.out(), /ada pays for/);
  assert.equal(await follow.ended, 0, follow.err());
  assert.match(follow.out(), /WorkflowExecutionCompleted/);
  // An update whose holder has died ends with an error message.
  await ok(node, "workflow", "start", "--type", "Cart", "-i", '"bob"', "-w", "d", "--store", store);
  third.child.kill("SIGSTOP");
  const update = start(node, "ts/cli/main.ts", [
    "workflow",
    "update",
    "-w",
    "d",
    "--store",
    store,
    "--name",
    "add_item",
    "-i",
    '"x"',
    "--timeout",
    "2s",
  ]);
  await new Promise((resolve) => setTimeout(resolve, 600));
  await kill(third, "SIGKILL");
  assert.equal(await update.ended, 1);
  assert.match(update.err(), /no worker is available|has ended|connection was lost|not answered/);
});

test("if the path is too long for a socket, a loopback port with a secret is used", async () => {
  const long = join(folder, "x".repeat(60), "y".repeat(60));
  mkdirSync(long, { recursive: true });
  const store = join(long, "shop.sqlite");
  const held = await hold(node, store);
  assert.match(held.address, /^127\.0\.0\.1:\d+$/);
  assert.equal(statSync(`${store}-port`).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(long).filter((name) => name.includes("socket")), []);
  for (const caller of Object.values(RUNTIMES)) {
    await ok(caller, "workflow", "count", "--store", store);
  }

  const { port, secret } = findHolder(store) as { port: number; secret: string };
  const status = async (headers: { [name: string]: string }): Promise<number> => {
    const session = http2Connect(`http://127.0.0.1:${port}`);
    const stream = session.request({
      ":method": "POST",
      ":path": "/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo",
      "content-type": "application/json",
      ...headers,
    });
    stream.end("{}");
    // A later error is the death of the holder at a lower level; this session may still be closing
    // then.
    const answer = await new Promise<number>((resolve, reject) => {
      session.on("error", reject);
      stream.on("error", reject);
      stream.on("response", (h) => resolve(Number(h[":status"])));
    });
    stream.resume();
    session.close();
    return answer;
  };
  const authorization = `Bearer ${secret}`;
  assert.equal(await status({ authorization }), 200);
  assert.equal(await status({}), 401);
  assert.equal(await status({ authorization: `Bearer ${"A".repeat(secret.length)}` }), 401);
  assert.equal(await status({ authorization, origin: "http://127.0.0.1" }), 403, "no web page");
  assert.equal(
    await status({ authorization, ":authority": "evil.example:80" }),
    403,
    "nor one that has rebound a name",
  );

  await kill(held, "SIGKILL");
  // Another process has the port now: the secret of a dead holder must not be sent to it.
  const heard: string[] = [];
  const stranger = createServer((socket) =>
    socket.on("data", (data) => heard.push(String(data))).on("error", () => {})
  );
  await new Promise<void>((resolve) => stranger.listen(port, "127.0.0.1", resolve));
  assert.equal(findHolder(store), undefined);
  await ok(node, "workflow", "count", "--store", store);
  assert.deepEqual(heard, []);
  await new Promise((resolve) => stranger.close(resolve));
  const next = await hold(node, store);
  assert.notEqual(
    (findHolder(store) as { secret: string }).secret,
    secret,
    "each holder has a different secret",
  );
  assert.equal(await kill(next, "SIGTERM"), 0);
  assert.ok(!existsSync(`${store}-port`));
});

test("files next to a store with unexpected content are not trusted", () => {
  const store = join(folder, "trust.sqlite");
  writeFileSync(`${store}-socket`, "no socket");
  assert.equal(findHolder(store), undefined);
  for (
    const note of [
      "",
      "{}",
      '{"port": 0, "secret": "x"}',
      '{"port": 80}',
      '{"port": "80", "secret": "x"}',
      "[]",
      "null",
    ]
  ) {
    writeFileSync(`${store}-port`, note, { mode: 0o600 });
    assert.equal(findHolder(store), undefined, note);
  }
  rmSync(`${store}-port`);
  writeFileSync(`${store}-port`, readFileSync(`${store}-socket`), { mode: 0o644 });
  assert.equal(findHolder(store), undefined);
});

test("foreign files with the names of a socket and its notes are kept, and the store is not served", async () => {
  const store = join(folder, "foreign.sqlite");
  const bind = () => Promise.reject(new Error("nothing is bound"));
  writeFileSync(`${store}-socket`, "no socket");
  assert.throws(
    () => removeSocket(store),
    /-socket is not a socket, and blocks the .*move it, or choose another name/,
  );
  writeFileSync(`${store}-port`, "8080");
  assert.throws(() => removePort(store), /-port is not a port file, and blocks the store/);
  assert.throws(() => placePort(store, 1, "x"), /-port is not a port file/);
  mkdirSync(`${store}-socket.new`);
  writeFileSync(join(`${store}-socket.new`, "thoughts"), "");
  await assert.rejects(placeSocket(store, bind), /-socket\.new is not a folder for a socket/);
  assert.deepEqual(
    [
      readFileSync(`${store}-socket`, "utf8"),
      readFileSync(`${store}-port`, "utf8"),
      readdirSync(`${store}-socket.new`),
    ],
    ["no socket", "8080", ["thoughts"]],
  );
  // What a killed holder left is replaced.
  rmSync(join(`${store}-socket.new`, "thoughts"));
  writeFileSync(join(`${store}-socket.new`, "s"), "");
  await assert.rejects(placeSocket(store, bind), /nothing is bound/);
  writeFileSync(`${store}-port`, "\0\0");
  placePort(store, 1234, "secret");
  assert.equal(JSON.parse(readFileSync(`${store}-port`, "utf8")).port, 1234);
});

test("Ctrl-C: waiting ends with 130; a run is kept, and a second Ctrl-C ends it at once", async () => {
  const store = join(folder, "interrupt.sqlite");
  const held = await hold(node, store);
  await ok(node, "workflow", "start", "--type", "Cart", "-w", "c", "-i", '"ada"', "--store", store);
  const waiting = start(node, "ts/cli/main.ts", [
    "workflow",
    "execute",
    "--type",
    "Slow",
    "-i",
    "60000",
    "--store",
    store,
  ]);
  await until("it waits", () => waiting.err().includes("started workflow"));
  assert.equal(await kill(waiting, "SIGINT"), 130);
  await kill(held, "SIGTERM");
  const flows = join(dist, "tests/unit/cli/flows/workflows.js");
  const run = start(node, "ts/cli/main.ts", [
    "run",
    flows,
    "--type",
    "Slow",
    "-w",
    "s",
    "-i",
    "60000",
    "--store",
    store,
  ]);
  await until("it runs", () => run.err().includes("running Slow"));
  assert.equal(await kill(run, "SIGINT"), 130);
  assert.match(run.err(), /the run is kept/);
  assert.match(
    await ok(node, "workflow", "show", "-w", "s", "--store", store),
    /TimerStarted|WorkflowExecutionStarted/,
  );

  // An activity that does not listen: the first Ctrl-C gives it time, the second one does not.
  writeFileSync(
    join(folder, "hangs.ts"),
    `import { activities, workflow } from "temporalex/workflow";
const { hang } = activities<typeof import("./hang.ts")>({ startToClose: "1h" });
export const hangs = workflow("Hangs", async () => await hang());
`,
  );
  writeFileSync(
    join(folder, "hang.ts"),
    'export const hang = () => (console.error("hanging"), new Promise<void>(() => setInterval(() => {}, 1e6)));',
  );
  for (const runtime of Object.values(RUNTIMES)) {
    const stuck = start(runtime, "ts/cli/main.ts", ["run", "hangs.ts", "--activities", "hang.ts"]);
    await until(
      "the activity runs",
      () => stuck.err().includes("hanging") || stuck.child.exitCode !== null,
    );
    stuck.child.kill("SIGINT");
    await until("the first is heard", () => stuck.err().includes("interrupted"));
    const began = Date.now();
    assert.equal(stuck.child.exitCode, null, stuck.err());
    assert.equal(await kill(stuck, "SIGINT"), 130);
    assert.ok(Date.now() - began < 9_000, "it did not wait for the activity");
  }
});

test("a closed output pipe ends the command quietly", async () => {
  const ran = start(node, "ts/cli/main.ts", ["workflow", "start", "--help"]);
  ran.child.stdout!.destroy();
  assert.ok([0, null].includes(await ran.ended), ran.err());
  assert.equal(ran.err(), "");
});
