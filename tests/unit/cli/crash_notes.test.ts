// A worker on a cluster whose workflow code ends its process: the next start says on which runs it
// died. The cluster is `temporalex dev`.
// takes: 5 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { crashNoteIn } from "../../../ts/cli/commands/worker/crash_notes.ts";
import { stateFolder } from "../../../ts/cli/frame/state_folder.ts";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { until } from "../../support/until.ts";
import { startCommand, type Started } from "./support/process.ts";
import { refusals, run } from "./support/run.ts";

const DIED = /the previous process ended while workflow code was running/;
const WORK = { address: "127.0.0.1:7233", namespace: "default", taskQueue: "q" };

async function inFolder(body: (folder: string) => void | Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-crash-notes-"));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The id of a process that has exited. */
async function deadPid(): Promise<number> {
  const started = startCommand(["--version"], tmpdir());
  await started.end();
  return started.child.pid!;
}

const noted = (...runs: string[]) =>
  `${JSON.stringify({ runs: runs.map((id) => [`w-${id}`, id, "W"]), ms: 5 })}\n`;

test("after a crash of V8 a worker names the run at its next start; others continue; a clean stop leaves no note", () =>
  inFolder(async (folder) => {
    writeFileSync(
      join(folder, "workflows.ts"),
      `import { sleep, workflow } from "temporalex/workflow";
export const tooLong = workflow("TooLong", async () => {
  await sleep(1);
  return "x".repeat(2 ** 28).split("").length;
});
export const quick = workflow("Quick", async () => "done");
`,
    );
    const notes = join(folder, "notes");
    const processes: Started[] = [];
    const start = (...args: string[]) => {
      const started = startCommand([...args, "--json"], folder);
      processes.push(started);
      return started;
    };
    try {
      const dev = start("dev", "--port", "0");
      const { address } = await dev.line("the server", ({ event }) => event === "ready");
      const worker = async (taskQueue: string) => {
        const started = start(
          ...[
            "worker",
            "--address",
            String(address),
            "--task-queue",
            taskQueue,
            "--workflows",
            "workflows.ts",
          ],
          ...["--crash-notes", "notes"],
        );
        await started.line(`the worker of ${taskQueue}`, ({ event }) => event === "started");
        return started;
      };
      const service = new GrpcService({ address: String(address) });
      try {
        const client = (taskQueue: string) =>
          new Client({ service, namespace: "default", taskQueue, logger: silentLogger });
        const first = await worker("poison");
        const quiet = await worker("quiet");
        assert.equal(await client("quiet").execute("Quick", { id: "quick-1" }), "done");
        const files = readdirSync(notes);
        assert.ok(files.some((name) => name.endsWith(`-${quiet.child.pid}.tasks`)), files.join());
        for (const name of files) {
          assert.equal(statSync(join(notes, name)).mode & 0o777, 0o600, name);
        }
        const { runId } = await client("poison").start("TooLong", { id: "poison-1" });
        assert.notEqual(await first.end(), 0, "V8 ends it");
        // The run must not meet the next one, too.
        await client("poison").getHandle(undefined, "poison-1").terminate("seen");

        const next = await worker("poison");
        await until("the log of the death", () => DIED.test(next.err()));
        assert.match(next.err(), /TooLong.*poison-1/);
        assert.ok(next.err().includes(runId!), next.err());
        assert.doesNotMatch(next.err(), /quick-1/);
        assert.equal(await client("poison").execute("Quick", { id: "quick-2" }), "done");
        assert.equal(await client("quiet").execute("Quick", { id: "quick-3" }), "done");
        assert.doesNotMatch(quiet.err(), DIED);
        assert.equal(await next.end("SIGINT"), 0, next.err());
        assert.equal(await quiet.end("SIGINT"), 0, quiet.err());
        assert.deepEqual(readdirSync(notes), [], "nothing is left after clean stops");

        const last = await worker("poison");
        assert.equal(await client("poison").execute("Quick", { id: "quick-4" }), "done");
        assert.doesNotMatch(last.err(), DIED, "told once");
        assert.equal(await last.end("SIGINT"), 0, last.err());
      } finally {
        service.close();
      }
    } finally {
      for (const started of processes) await started.end("SIGKILL");
    }
  }));

test("a process adopts the notes of all dead processes with the same work; other files stay", () =>
  inFolder(async (parent) => {
    const folder = join(parent, "made", "here");
    const own = crashNoteIn(folder, WORK);
    assert.deepEqual(readdirSync(folder), [], "made with the first task");
    const named = (pid: number) => own.replace(`-${process.pid}.tasks`, `-${pid}.tasks`);
    const dead = await deadPid();
    writeFileSync(named(dead), noted("a", "b"));
    // In a container each start has this id.
    writeFileSync(own, noted("b", "c"));
    writeFileSync(named(process.ppid), noted("lives"));
    const other = crashNoteIn(folder, { ...WORK, taskQueue: "other" }).replace(
      `-${process.pid}.tasks`,
      `-${dead}.tasks`,
    );
    writeFileSync(other, noted("other"));
    writeFileSync(join(folder, "a file of the user"), noted("user"));
    assert.equal(crashNoteIn(folder, WORK), own);
    const { runs } = JSON.parse(readFileSync(own, "utf8")) as { runs: string[][] };
    assert.deepEqual(runs.map(([, runId]) => runId).sort(), ["a", "b", "c"]);
    assert.equal(statSync(own).mode & 0o777, 0o600);
    const there = [own, named(process.ppid), other, join(folder, "a file of the user")];
    assert.deepEqual(readdirSync(folder).map((name) => join(folder, name)).sort(), there.sort());
    assert.match(readFileSync(named(process.ppid), "utf8"), /lives/);
  }));

test("processes that died without running tasks are not reported", () =>
  inFolder((folder) => {
    const own = crashNoteIn(folder, WORK);
    for (const text of ["\n", "", "{damaged", `\n${noted("left over")}`]) {
      writeFileSync(own, text);
      crashNoteIn(folder, WORK);
      assert.deepEqual(readdirSync(folder), [], JSON.stringify(text));
    }
  }));

test("the state folder depends on the platform", () => {
  assert.equal(stateFolder({ HOME: "/user" }, "linux"), "/user/.local/state/temporalex");
  assert.equal(
    stateFolder({ HOME: "/user", XDG_STATE_HOME: "/state" }, "linux"),
    "/state/temporalex",
  );
  assert.equal(
    stateFolder({ HOME: "/Users/u" }, "darwin"),
    "/Users/u/Library/Application Support/temporalex",
  );
  assert.equal(stateFolder({ LOCALAPPDATA: "/local" }, "win32"), "/local/temporalex");
  assert.equal(stateFolder({}, "linux"), undefined);
  assert.equal(stateFolder({ XDG_STATE_HOME: "", HOME: "" }, "linux"), undefined);
});

test("usage errors: an invalid folder, and the folder option with a store", () =>
  inFolder(async (folder) => {
    writeFileSync(
      join(folder, "workflows.ts"),
      'import { workflow } from "temporalex/workflow";\nexport const w = workflow("W", async () => 1);\n',
    );
    writeFileSync(join(folder, "taken"), "");
    mkdirSync(join(folder, "store"));
    const refused = refusals((args) =>
      run(["worker", "--workflows", "workflows.ts", ...args], { cwd: folder })
    );
    await refused(
      2,
      /--crash-notes taken cannot be used: /,
      "--address",
      "127.0.0.1:1",
      "--crash-notes",
      "taken",
    );
    await refused(
      2,
      /--crash-notes is for workers on a cluster/,
      "--store",
      "store/s.sqlite",
      "--crash-notes",
      "notes",
    );
  }));
