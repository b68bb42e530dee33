// `temporalex dev` and Temporal's own development server, alternating: from the start of the
// process to the first answer and to the first workflow that is started, and what the process
// holds, idle and with runs. Linux (memory is read from /proc). Options: --rounds=5 --runs=1000
// --package=folder (a packed package, as npm installs it; default: the checkout, whose start is
// slower).
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Client, silentLogger } from "../ts/client/mod.ts";
import { GrpcService } from "../ts/grpc/grpc_service.ts";
import { type TypedService, typedService } from "../ts/service/typed.ts";
import { freePort } from "../tests/support/ports.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    runs: { type: "string", default: "1000" },
    package: { type: "string" },
    help: { type: "boolean" },
  },
});
if (values.help) {
  console.log(
    "usage: npm run bench -- dev [--rounds=5] [--runs=1000] [--package=folder]\nNeeds Temporal's command line (TEMPORAL_CLI, or temporal in PATH).",
  );
  process.exit(0);
}

const MAIN = values.package === undefined ? "dist/ts/cli/main.js" : cliOf(values.package);

/** The program of a package, as its manifest names it. */
function cliOf(folder: string): string {
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    bin: { temporalex: string };
  };
  return join(folder, bin.temporalex);
}

const SERVERS: {
  readonly [name: string]: (port: number, other: number) => readonly [string, ...string[]];
} = {
  "temporalex dev (node)": (
    port,
  ) => [process.execPath, MAIN, "dev", "--port", `${port}`, "--log-level", "error"],
  "temporal server start-dev": (port, other) => [
    process.env["TEMPORAL_CLI"] || "temporal",
    ...["server", "start-dev", "--headless", "--ip", "127.0.0.1", "--log-level", "error"],
    ...["--port", `${port}`, "--http-port", `${other}`],
  ],
};

/** Resident memory of a process, in MB; 0 where /proc does not say. */
function residentMb(pid: number): number {
  try {
    return Math.round(
      Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) /
        1024,
    );
  } catch {
    return 0;
  }
}

/** Seconds of processor time that a process has taken. */
function cpuSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return 0;
  }
}

/** Calls until it gets a response. */
async function until(
  address: string,
  child: ChildProcess,
  ask: (service: TypedService) => Promise<unknown>,
): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    const service = new GrpcService({ address });
    try {
      await ask(typedService(service));
      return;
    } catch {
      await delay(2);
    } finally {
      service.close();
    }
  }
}

const FIRST = {
  namespace: "default",
  workflowId: "first",
  requestId: "first",
  workflowType: { name: "Work" },
  taskQueue: { name: "q" },
};

async function measure(name: string) {
  const [port, other] = [await freePort(), await freePort()];
  const [command, ...args] = SERVERS[name]!(port, other);
  const address = `127.0.0.1:${port}`;
  const began = performance.now();
  const child = spawn(command, args, { stdio: "ignore" });
  await new Promise<void>((resolve, reject) => child.once("spawn", resolve).once("error", reject));
  try {
    await until(
      address,
      child,
      (service) => service.describeNamespace({ namespace: "default" }, { timeoutMs: 1000 }),
    );
    const firstAnswerMs = performance.now() - began;
    await until(
      address,
      child,
      (service) => service.startWorkflowExecution(FIRST, { timeoutMs: 5000 }),
    );
    const firstWorkflowMs = performance.now() - began;
    const startCpuSeconds = cpuSeconds(child.pid!);
    await delay(2000);
    const idleMb = residentMb(child.pid!);
    const idleCpu = cpuSeconds(child.pid!);
    await delay(5000);
    const idleCpuPercent = (cpuSeconds(child.pid!) - idleCpu) * 20;
    const service = new GrpcService({ address });
    const client = new Client({ service, taskQueue: "q", logger: silentLogger });
    const runs = Number(values.runs);
    for (let i = 0; i < runs; i += 50) {
      const slice = Array.from(
        { length: Math.min(50, runs - i) },
        (_, n) => client.start("Work", { id: `w-${i + n}`, args: [i + n] }),
      );
      await Promise.all(slice);
    }
    service.close();
    return {
      firstAnswerMs,
      firstWorkflowMs,
      startCpuSeconds,
      idleMb,
      idleCpuPercent,
      withRunsMb: residentMb(child.pid!),
    };
  } finally {
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
  }
}

const median = (numbers: readonly number[]) =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
const found: { [name: string]: Awaited<ReturnType<typeof measure>>[] } = {};
for (let round = 0; round < Number(values.rounds); round++) {
  for (const name of Object.keys(SERVERS)) (found[name] ??= []).push(await measure(name));
}
const summary = Object.fromEntries(
  Object.entries(found).map(([name, all]) => [
    name,
    Object.fromEntries(
      (Object.keys(all[0]!) as (keyof typeof all[0])[]).map((
        key,
      ) => [key, Math.round(median(all.map((each) => each[key])) * 100) / 100]),
    ),
  ]),
);
console.log(
  JSON.stringify({
    bench: "dev",
    rounds: Number(values.rounds),
    runs: Number(values.runs),
    median: summary,
    all: found,
  }),
);
