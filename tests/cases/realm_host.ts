// Worker realms for runtime-neutral cases: sources are strings, so that browsers have them too; the
// worker's entry is the package's own in Node and Deno, and a bundle next to the page in browsers.
import {
  createWorkerRealm,
  type WorkerRealm,
  type WorkerRealmOptions,
} from "../../ts/realm/mod.ts";
import type { LogEntry } from "../../ts/executor/program/program.ts";
import type { RealmOutcome } from "../../ts/realm/realm.ts";
import { MiniServer, type StartOptions } from "./mini_server.ts";
import { readWorkflowTask } from "../../ts/messages/workflow_task.ts";

const place = (globalThis as { location?: { protocol: string; href: string } }).location;
/** A page, or a worker of one. */
export const inBrowser: boolean = place !== undefined && place.protocol.startsWith("http");

export const API = `import * as api from "temporalex/workflow";
const { workflow, sleep, sideEffect, publishState, parallel, receive, on, signal, update, query, reply, noreply, stop, shield, log } = api;\n`;

export class RealmRun {
  readonly server: MiniServer;
  readonly #realm: WorkerRealm;

  constructor(server: MiniServer, realm: WorkerRealm) {
    this.server = server;
    this.#realm = realm;
  }

  async task(): Promise<RealmOutcome> {
    const outcome = await this.#realm.runTask(
      readWorkflowTask(this.server.openTask({ sticky: true })),
    );
    this.server.report(outcome);
    return outcome;
  }

  /** Fires open timers task by task until the run is closed or a task fails. */
  async auto(): Promise<unknown> {
    for (;;) {
      const outcome = await this.task();
      if (this.server.closed !== undefined || outcome.response?.$case !== "completed") {
        return this.server.closed?.result;
      }
      for (const id of [...this.server.timers.keys()]) this.server.fireTimer(id);
    }
  }

  /** Message of the last failed task; "" when it did not fail. */
  get failure(): string {
    return this.server.taskFailure?.failure.message ?? "";
  }
}

export interface RealmHarness {
  readonly realm: WorkerRealm;
  readonly logs: LogEntry[];
  start(type: string, options?: StartOptions): RealmRun;
  dispose(): Promise<void>;
}

let runs = 0;

export type RealmOptions = Partial<WorkerRealmOptions>;

/** A worker realm over one module's text. */
export const createRealmFromText = (
  text: string,
  options: RealmOptions = {},
): Promise<RealmHarness> => createRealmFromTexts({ "/app/main.ts": text }, options);

/** A worker realm over modules with workflows, by their paths. */
export async function createRealmFromTexts(
  texts: { readonly [path: string]: string },
  options: RealmOptions = {},
): Promise<RealmHarness> {
  const logs: LogEntry[] = [];
  const servers = new Map<string, MiniServer>();
  const realm = await createWorkerRealm({
    workflows: Object.keys(texts),
    sources: texts,
    ...(inBrowser ? { entry: new URL("/realm.js", place!.href) } : {}),
    runOptions: { namespace: "default", identity: "test", stickyQueue: "sticky" },
    log: { write: (entry) => void logs.push(entry) },
    fetchHistory: (_workflowId, runId) =>
      Promise.resolve({ history: servers.get(runId)!.history(), nextPageToken: new Uint8Array(0) }),
    ...options,
  });
  return {
    realm,
    logs,
    start(type, startOptions = {}) {
      const server = new MiniServer(type, {
        runId: `0000000a-${String(++runs).padStart(4, "0")}-4000-8000-000000000000`,
        ...startOptions,
      });
      servers.set(server.runId, server);
      return new RealmRun(server, realm);
    },
    dispose: () => realm.dispose(),
  };
}

export async function withRealm<T>(
  text: string,
  body: (h: RealmHarness) => Promise<T>,
  options: Partial<WorkerRealmOptions> = {},
): Promise<T> {
  const h = await createRealmFromText(text, options);
  try {
    return await body(h);
  } finally {
    await h.dispose();
  }
}
