// The engine of the leading tab, in its worker: the store, the embedded engine, and the calls of
// this page and of other tabs. Pending calls survive an import, which replaces the engine.
import { Client } from "../client/client.ts";
import { EmbeddedEngine } from "../engine/embedded_engine.ts";
import { IN_ENGINE_LIMITS } from "../engine/sqlite/bounded_rows.ts";
import type { SqlValue } from "../engine/sqlite/driver.ts";
import { OpfsStore } from "../engine/sqlite/opfs/open.ts";
import type { StoreFence } from "../engine/sqlite/open.ts";
import { refuseWriting } from "../engine/sqlite/read_only_sql.ts";
import { isFinalStoreError, StoreError, StoreNotEmptyError } from "../engine/store_errors.ts";
import { loadEngineCoreSync } from "../core/engine_half.ts";
import { detachedCopy } from "../realm/protocol.ts";
import { type CallOptions, ServiceError } from "../service/raw.ts";
import { WorkflowService } from "../messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { toData } from "./error_data.ts";
import type { EngineEntryOptions } from "./engine_entry.ts";
import type { ChoreValue, EngineInit, FromLeader, ToLeader } from "./messages.ts";

type Reply = (answer: FromLeader) => void;

interface OpenCall {
  readonly message: Extract<ToLeader, { k: "call" }>;
  readonly abort: AbortController;
  readonly reply: Reply;
}

export interface LeaderEngineEvents {
  /** The engine survived the error. */
  survived(error: Error): void;
  /** The engine has stopped: the store cannot serve as it is. */
  stopped(error: Error): void;
  /** The store was replaced. */
  replaced(): void;
}

export class LeaderEngine {
  readonly #init: EngineInit;
  readonly #entry: EngineEntryOptions;
  readonly #fence: StoreFence;
  readonly #events: LeaderEngineEvents;
  readonly #open = new Map<string, OpenCall>();
  #opfs!: OpfsStore;
  #engine!: EmbeddedEngine;
  /** True between two engines: calls wait for the next one. */
  #replacing = false;
  #closed = false;
  /** Imports and exports run one at a time. */
  #chores: Promise<unknown> = Promise.resolve();

  private constructor(
    init: EngineInit,
    entry: EngineEntryOptions,
    fence: StoreFence,
    events: LeaderEngineEvents,
  ) {
    this.#init = init;
    this.#entry = entry;
    this.#fence = fence;
    this.#events = events;
  }

  static async open(
    init: EngineInit,
    entry: EngineEntryOptions,
    fence: StoreFence,
    events: LeaderEngineEvents,
  ): Promise<LeaderEngine> {
    const usesCodec = entry.reducers !== undefined || entry.functions !== undefined;
    if (usesCodec && init.coded !== (entry.codec !== undefined)) {
      throw new TypeError(
        init.coded
          ? "the page has a codec and the engine worker does not: pass the same codec to serveEngine({ reducers, codec })"
          : "the engine worker has a codec and the page does not: pass the same codec to open({ codec })",
      );
    }
    const leader = new LeaderEngine(init, entry, fence, events);
    await leader.#begin();
    return leader;
  }

  get description(): string {
    return this.#opfs.store.description;
  }

  get runsReducers(): boolean {
    return this.#engine.runsReducers;
  }

  async #begin(): Promise<void> {
    const { name, core, sqliteWasm, namespace, taskQueue, limits, synchronous } = this.#init;
    const { converter, codec, encodeCommonAttributes } = this.#entry;
    let client: Client | undefined;
    const opfs = await OpfsStore.open(name, {
      sqliteWasm,
      fence: this.#fence,
      ...(synchronous !== undefined && { synchronous }),
    });
    try {
      this.#engine = await EmbeddedEngine.open({
        store: opfs.store,
        core: loadEngineCoreSync(core),
        ...(namespace !== undefined && { namespace }),
        ...(limits !== undefined && { limits }),
        ...this.#entry,
        workflows: (transport) => client!.workflowsIn(transport),
        onError: (error) => this.#heard(error),
      });
      client = new Client({
        service: this.#engine,
        namespace: this.#engine.namespace,
        taskQueue,
        ...(converter !== undefined && { converter }),
        ...(codec !== undefined && { codec }),
        ...(encodeCommonAttributes !== undefined && { encodeCommonAttributes }),
      });
      this.#opfs = opfs;
    } catch (e) {
      opfs.store.close();
      throw e;
    }
  }

  #heard(error: Error): void {
    if (isFinalStoreError(error)) this.#events.stopped(error);
    else this.#events.survived(error);
  }

  receive(message: ToLeader, reply: Reply): void {
    if (!isCall(message)) return;
    const key = `${message.from} ${message.id}`;
    switch (message.k) {
      case "call": {
        if (this.#open.has(key)) return;
        const call = { message, abort: new AbortController(), reply };
        this.#open.set(key, call);
        if (!this.#replacing) this.#call(key, call);
        return;
      }
      case "cancel":
        this.#open.get(key)?.abort.abort();
        return;
      case "export":
        return this.#chore(message, reply, () => Promise.resolve(this.#export()));
      case "check":
        return this.#chore(message, reply, () => Promise.resolve(this.#opfs.store.check()));
      case "purge": {
        const { closedBefore, limit } = message;
        return this.#chore(message, reply, () => this.#engine.purge({ closedBefore, limit }));
      }
      case "fire": {
        const { workflowId, name, runId } = message;
        return this.#chore(
          message,
          reply,
          () => this.#engine.fireTimer(workflowId, name, runId).then(() => undefined),
        );
      }
      case "other":
        // After an import that runs; not in its order, so that calls share commits.
        return void this.#chores.then(() =>
          this.#answer(message, reply, () => this.#engine.callOther(message.path, message.request))
        );
      case "read":
        return this.#chore(
          message,
          reply,
          () => Promise.resolve(this.#read(message.sql, message.params)),
        );
      case "import":
        return this.#chore(message, reply, () => this.#import(message.file, message.force));
    }
  }

  #call(key: string, call: OpenCall): void {
    const {
      message: { from: to, id, method, request, timeoutMs, shown },
      abort: { signal },
      reply,
    } = call;
    const engine = this.#engine;
    const done = (answer: FromLeader) => {
      // A replaced engine rejects its pending calls, which go to the next one.
      if (engine !== this.#engine || this.#replacing) return;
      this.#open.delete(key);
      reply(answer);
    };
    engine.call(method, request, {
      signal,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(shown && { shown }),
    }).then(
      (value) => done({ k: "answer", to, id, value: detachedCopy(value) }),
      (e) => {
        // The engine has stopped, or is closed because this tab steps down: the next leader
        // responds.
        if (
          engine.failure !== undefined ||
          (this.#closed && e instanceof ServiceError && e.reason === "EngineClosed")
        ) return;
        done({ k: "refusal", to, id, error: toData(e) });
      },
    );
  }

  #chore(
    message: { from: string; id: number },
    reply: Reply,
    work: () => Promise<ChoreValue>,
  ): void {
    this.#chores = this.#chores.then(() => this.#answer(message, reply, work));
  }

  async #answer(
    { from: to, id }: { from: string; id: number },
    reply: Reply,
    work: () => Promise<ChoreValue>,
  ): Promise<void> {
    if (this.#closed) return;
    try {
      reply({ k: "answer", to, id, value: await work() });
    } catch (e) {
      reply({ k: "refusal", to, id, error: toData(e) });
    }
  }

  #read(sql: string, params: readonly SqlValue[]): readonly object[] {
    // The tables' own error for other statements refers to reducers.
    if (/^[\s(;]*(?:select|values|with|explain)\b/i.test(sql)) refuseWriting(sql);
    return this.#opfs.within(IN_ENGINE_LIMITS, () => this.#engine.tables.all(sql, ...params));
  }

  #export(): Blob {
    this.#fence.check();
    return new Blob([this.#opfs.exportFile()], { type: "application/vnd.sqlite3" });
  }

  async #import(file: Blob, force: boolean): Promise<undefined> {
    this.#refuseRuns(force);
    const staged = await this.#opfs.stage(file);
    if (this.#closed) {
      await staged.discard();
      throw new StoreError(
        "the import was canceled because this tab is no longer the leader; nothing was changed",
      );
    }
    this.#replacing = true;
    let swapped = false;
    try {
      await this.#engine.close();
      this.#refuseRuns(force);
      this.#opfs.store.close();
      swapped = true;
      await staged.adopt();
    } catch (e) {
      await staged.discard();
      throw e;
    } finally {
      // Uses the store that is available now; without one this tab cannot lead.
      try {
        if (!swapped) this.#opfs.store.close();
        // `close` releases the lock: without it the store must stay closed.
        if (!this.#closed) await this.#begin();
        this.#replacing = false;
        if (swapped) this.#events.replaced();
        for (const [key, call] of this.#open) this.#call(key, call);
      } catch (e) {
        this.#events.stopped(e as Error);
      }
    }
  }

  #refuseRuns(force: boolean): void {
    const runs = force ? 0 : this.#opfs.store.count();
    if (runs === 0) return;
    throw new StoreNotEmptyError(
      `the store "${this.#init.name}" has ${runs} run${
        runs === 1 ? "" : "s"
      }, which an import would replace: if needed, export them ` +
        "first, then import with { force: true }",
    );
  }

  /**
   * Commits and closes the files. Pending calls get no response; their tabs send them to the next
   * leader.
   */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#chores;
    try {
      await this.#engine.close();
    } finally {
      this.#opfs.store.close();
    }
  }
}

function isShown({ runId, phase, state }: NonNullable<CallOptions["shown"]>): boolean {
  return typeof runId === "string" && Number.isSafeInteger(phase) &&
    (typeof state === "string" || state == null);
}

/** Other tabs can have another version, and any code of this origin can write to a channel. */
function isCall(message: ToLeader): boolean {
  if (typeof message !== "object" || message === null) return false;
  if (typeof message.from !== "string" || typeof message.id !== "number") return false;
  if (message.k === "call") {
    const { method, request, shown } = message;
    return Object.hasOwn(WorkflowService.method, method) && request instanceof Uint8Array &&
      (shown === undefined || isShown(shown));
  }
  if (message.k === "purge") return typeof message.closedBefore === "number" && message.limit >= 0;
  if (message.k === "other") {
    return typeof message.path === "string" && message.request instanceof Uint8Array;
  }
  if (message.k === "fire") {
    const { workflowId, name, runId } = message;
    return typeof workflowId === "string" && typeof name === "string" &&
      (runId === undefined || typeof runId === "string");
  }
  if (message.k === "read") return typeof message.sql === "string" && Array.isArray(message.params);
  return message.k === "cancel" || message.k === "export" || message.k === "check" ||
    (message.k === "import" && message.file instanceof Blob);
}
