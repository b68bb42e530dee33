// The workers of the accounts: a worker in this process with the native program, or workers in
// separate processes, of this package and of the official SDK, with the same account as a program
// of `@temporalio/workflow`.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { cpuSeconds } from "../../../bench/cluster/variants.ts";
import * as activities from "../../../examples/entity/activities.ts";
import { officialProgram } from "../../../tests/system/interop/support/official.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import type { RawService } from "../../../ts/service/raw.ts";
import { Worker } from "../../../ts/worker/mod.ts";

export const WORKERS = ["here", "ours", "official"] as const;
export type WorkerName = typeof WORKERS[number];

export interface RunningWorker {
  /** Seconds of processor time of its process; undefined for one in this process. */
  cpu(): number | undefined;
  /** Resident MB of its process. */
  rssMb(): number | undefined;
  stop(): Promise<void>;
}

export interface WorkerAsk {
  readonly service: RawService;
  readonly address: string | undefined;
  readonly taskQueue: string;
  readonly cached: number;
}

/** Resolves when it polls. */
export function startWorker(name: WorkerName, ask: WorkerAsk): Promise<RunningWorker> {
  if (name === "here") return inThisProcess(ask);
  if (ask.address === undefined) {
    throw new Error(`--workers ${name} needs a server (--on dev, server or an address)`);
  }
  const args = [ask.address, ask.taskQueue, String(ask.cached)];
  return name === "ours"
    ? inProcess(process.execPath, [
      fileURLToPath(new URL("./our_worker.ts", import.meta.url)),
      ...args,
    ])
    : inProcess("node", [officialProgram("entity_worker.mjs"), ...args]);
}

async function inThisProcess({ service, taskQueue, cached }: WorkerAsk): Promise<RunningWorker> {
  const worker = await Worker.create({
    ...{ service, taskQueue, activities, cachedWorkflows: cached, logger: silentLogger },
    workflows: [new URL("../../../examples/entity/workflow.ts", import.meta.url)],
  });
  const running = worker.run();
  return {
    cpu: () => undefined,
    rssMb: () => undefined,
    stop: () => (worker.shutdown(), running),
  };
}

async function inProcess(command: string, args: string[]): Promise<RunningWorker> {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  const exit = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  await new Promise((resolve, reject) => {
    child.stdout.once("data", resolve);
    child.once("error", reject);
    child.once(
      "exit",
      (code) => reject(new Error(`a worker ended by itself (${code}); its words are above`)),
    );
  });
  const pid = child.pid!;
  return {
    cpu: () => cpuSeconds(pid),
    rssMb: () =>
      Math.round(
        Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1000,
      ),
    stop: () => (process.off("exit", kill), kill(), exit),
  };
}
