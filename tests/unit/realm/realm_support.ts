// Drives runs through a realm with the mini server.
import type { Realm, TaskOutcome } from "../../../ts/realm/realm.ts";
import {
  createWorkerRealm,
  type WorkerRealm,
  type WorkerRealmOptions,
} from "../../../ts/realm/mod.ts";
import type { LogEntry } from "../../../ts/executor/program/program.ts";
import { MiniServer, type StartOptions } from "../../cases/mini_server.ts";
import { readWorkflowTask } from "../../../ts/messages/workflow_task.ts";

/**
 * A workflow module of this folder, always as TypeScript: the loader takes it as its author wrote
 * it, in Node 20 too.
 */
export const workflows = (name: string): string => `tests/unit/realm/workflows/${name}.ts`;

export interface Harness {
  readonly realm: WorkerRealm;
  readonly logs: LogEntry[];
  /** Runs whose history the realm may ask for. */
  readonly servers: MiniServer[];
  readonly fetched: string[];
  start(type: string, options?: StartOptions): Run;
}

export class Run {
  readonly server: MiniServer;
  readonly realm: Realm;
  readonly outcomes: TaskOutcome[] = [];

  constructor(server: MiniServer, realm: Realm) {
    this.server = server;
    this.realm = realm;
  }

  /** One task; partial when the run is cached. */
  async task(options: { sticky?: boolean } = {}): Promise<TaskOutcome> {
    const outcome = await this.realm.runTask(
      readWorkflowTask(this.server.openTask({ sticky: true, ...options })),
    );
    this.outcomes.push(outcome);
    this.server.report(outcome);
    return outcome;
  }

  /** Fires open timers task by task until the run is closed; its result. */
  async auto(): Promise<unknown> {
    while (this.server.closed === undefined) {
      for (const id of [...this.server.timers.keys()]) this.server.fireTimer(id);
      const outcome = await this.task();
      if (outcome.response?.$case !== "completed") {
        throw new Error(`the task failed: ${this.failure}`);
      }
    }
    return this.server.closed.result;
  }

  /** The message of the last failed task. */
  get failure(): string {
    return this.server.taskFailure?.failure.message ?? "";
  }
}

let runs = 0;

export async function harness(options: Partial<WorkerRealmOptions>): Promise<Harness> {
  const logs: LogEntry[] = [];
  const servers: MiniServer[] = [];
  const fetched: string[] = [];
  const realm = await createWorkerRealm({
    runOptions: { namespace: "default", identity: "test", stickyQueue: "sticky" },
    log: { write: (entry) => void logs.push(entry) },
    fetchHistory: (_workflowId, runId) => {
      fetched.push(runId);
      const server = servers.find((s) => s.runId === runId)!;
      return Promise.resolve({ history: server.history(), nextPageToken: new Uint8Array(0) });
    },
    ...options,
  });
  return {
    realm,
    logs,
    servers,
    fetched,
    start(type, startOptions = {}) {
      const server = new MiniServer(type, { runId: `run-${++runs}`, ...startOptions });
      servers.push(server);
      return new Run(server, realm);
    },
  };
}
