// A store file as a WorkflowService for a process that does not hold it. Calls go to the holder;
// without one, the store is opened briefly for the call (a visit). The holder can change between
// two calls. Calls that need a worker (queries, updates, waits for results) cannot be served by a
// visit.
import { fromBinary } from "@bufbuild/protobuf";
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { EmbeddedEngine } from "../engine/mod.ts";
import { READ_METHODS, ReadOnlyService } from "../engine/read_only_service.ts";
import { StoreLockedError } from "../engine/store_errors.ts";
import { openStore } from "../engine/short_lived_open.ts";
import {
  type CallOptions,
  Code,
  type MethodName,
  type RawService,
  ServiceError,
} from "../service/raw.ts";
import { realTimers, sleepOn } from "../base/timers.ts";
import { GrpcService } from "../grpc/grpc_service.ts";
import { NOT_CONNECTED } from "../grpc/links.ts";
import { GetWorkflowExecutionHistoryRequestSchema } from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { findHolder } from "./socket_path.ts";

export interface StoreServiceOptions {
  path: string;
  /** Default: "default". Only used while no process holds the store. */
  namespace?: string;
  /** Whether a start may create the store. Default: true. */
  create?: boolean;
  /**
   * Time that a call that needs a worker waits for a holder. Default: 0, it is rejected at once.
   */
  patienceMs?: number;
  /** Called when a call begins to wait for a holder, because it needs a worker. */
  onWaiting?(): void;
}

/** Time that a visit stays open after its last call: paged reads call again at once. */
const LINGER_MS = 20;
/** Maximum duration of a visit; others wait for its end. */
const MAX_VISIT_MS = 500;
/** Time from opening a store to being reachable, for a holder that starts on a busy machine. */
export const REACHABLE_MS = 8_000;
const PAUSE_MS = 50;
/** Interval in which a waiting call reads the store itself. */
const LOOK_MS = 2_000;
/** Time in which a response that needs no waiting arrives. */
const AT_ONCE_MS = 25;

const NEED_A_WORKER: ReadonlySet<MethodName> = new Set<MethodName>([
  "queryWorkflow",
  "updateWorkflowExecution",
  "executeMultiOperation",
  "pollWorkflowExecutionUpdate",
  "pollWorkflowTaskQueue",
  "pollActivityTaskQueue",
  "pollNexusTaskQueue",
]);
/** Reason of a rejected call that needs a worker: no process has the store open. */
export const NO_WORKER = "NoWorker";

const CREATES: ReadonlySet<MethodName> = new Set<MethodName>([
  "startWorkflowExecution",
  "signalWithStartWorkflowExecution",
]);

interface Visit {
  readonly service: RawService;
  readonly writes: boolean;
  readonly openedAt: number;
  users: number;
  timer: unknown;
  close(): Promise<void>;
}

/** A connection to a process that has the store open. */
interface Line {
  readonly service: GrpcService;
  readonly key: string;
  /** Calls without a response. */
  calls: number;
}

export class StoreService implements RawService {
  readonly losesCancelledPolls = true;
  /** Absolute and with links resolved, as the holder names it. */
  readonly path: string;
  readonly #options: StoreServiceOptions;
  #holder: Line | undefined;
  /** Connections to processes that are no longer found; they may still respond to earlier calls. */
  readonly #left = new Set<Line>();
  #hadHolder = false;
  #visit: Visit | undefined;
  /** Visits are opened and closed one at a time. */
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: StoreServiceOptions) {
    this.#options = options;
    this.path = resolveStorePath(options.path);
  }

  /** Returns whether a process holds the store now. */
  get held(): boolean {
    return findHolder(this.path) !== undefined;
  }

  call(method: MethodName, request: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    return this.#attempts(
      (service) => service.call(method, request, options),
      () => this.#withoutHolder(method, request, options),
      options,
    );
  }

  /** Calls a method of another service of the holder. */
  callOther(path: string, request: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    return this.#attempts(
      (service) => service.callOther(path, request, options),
      () => Promise.reject(this.#noWorker()),
      options,
    );
  }

  async #attempts(
    ask: (holder: GrpcService) => Promise<Uint8Array>,
    without: () => Promise<Uint8Array>,
    options: CallOptions,
  ): Promise<Uint8Array> {
    const began = performance.now();
    for (;;) {
      if (this.#closed) throw new ServiceError(Code.CANCELLED, "the connection is closed");
      options.signal?.throwIfAborted();
      const answer = await this.#askHolder(ask);
      if (answer !== undefined) return answer;
      try {
        return await without();
      } catch (e) {
        const waited = performance.now() - began;
        if (
          e instanceof ServiceError && e.reason === NO_WORKER &&
          waited < (this.#options.patienceMs ?? 0)
        ) {
          this.#options.onWaiting?.();
        } else if (!(e instanceof StoreLockedError)) throw e;
        // Now held; the holder may not listen yet, or not again yet.
        else if (waited > REACHABLE_MS) throw unreachable(this.path, e);
      }
      await sleepOn(realTimers, PAUSE_MS, options.signal);
    }
  }

  /** Calls the holder; undefined if no process listens. */
  async #askHolder(
    ask: (holder: GrpcService) => Promise<Uint8Array>,
  ): Promise<Uint8Array | undefined> {
    const holder = this.#find();
    if (holder === undefined) return undefined;
    holder.calls++;
    try {
      const answer = await ask(holder.service);
      this.#hadHolder = true;
      return answer;
    } catch (e) {
      if (!(e instanceof ServiceError) || e.code !== Code.UNAVAILABLE) throw e;
      this.#leaveHolder(holder);
      // No process listens: left by a killed process. After any other error the call may have had
      // its effect, so the caller decides whether to retry.
      if (e.reason === NOT_CONNECTED) return undefined;
      this.#hadHolder = true;
      throw e;
    } finally {
      holder.calls--;
      this.#closeUnused();
    }
  }

  #find(): Line | undefined {
    const found = findHolder(this.path);
    const key = JSON.stringify(found);
    if (this.#holder !== undefined && this.#holder.key === key) return this.#holder;
    if (this.#holder !== undefined) this.#leaveHolder(this.#holder);
    if (found === undefined) return undefined;
    return this.#holder = { service: lineTo(found), key, calls: 0 };
  }

  #leaveHolder(line: Line): void {
    if (this.#holder === line) this.#holder = undefined;
    this.#left.add(line);
    this.#closeUnused();
  }

  #closeUnused(): void {
    for (const line of this.#left) {
      if (line.calls > 0 && !this.#closed) continue;
      this.#left.delete(line);
      line.service.close();
    }
  }

  // ---- with no holder

  #withoutHolder(
    method: MethodName,
    request: Uint8Array,
    options: CallOptions,
  ): Promise<Uint8Array> {
    if (NEED_A_WORKER.has(method)) return Promise.reject(this.#noWorker());
    if (!READ_METHODS.has(method)) {
      return this.#visiting(
        true,
        CREATES.has(method),
        (service) => service.call(method, request, options),
      );
    }
    if (method === "getWorkflowExecutionHistory" && waits(request)) {
      return this.#waitFor(method, request, options);
    }
    return this.#visiting(false, false, (service) => service.call(method, request, options));
  }

  #noWorker(): ServiceError {
    // A recent holder may return: callers retry for a while.
    if (this.#hadHolder) {
      return new ServiceError(
        Code.UNAVAILABLE,
        `the process that had ${this.path} open has ended, and no worker is available`,
      );
    }
    return new ServiceError(
      Code.FAILED_PRECONDITION,
      `no process has ${this.path} open, so no worker is available; start one, for example with: temporalex worker --store ${this.path} --workflows ./workflows.ts --activities ./activities.ts`,
      NO_WORKER,
    );
  }

  /** Returns an existing result, or waits for a process that opens the store. */
  async #waitFor(
    method: MethodName,
    request: Uint8Array,
    options: CallOptions,
  ): Promise<Uint8Array> {
    const { timeoutMs = Infinity, signal } = options;
    const deadline = performance.now() + timeoutMs;
    const isDeadline = (e: unknown) =>
      e instanceof ServiceError && e.code === Code.DEADLINE_EXCEEDED;
    try {
      return await this.#visiting(
        false,
        false,
        (service) => service.call(method, request, { ...options, timeoutMs: AT_ONCE_MS }),
      );
    } catch (e) {
      if (!isDeadline(e)) throw e;
    }
    this.#options.onWaiting?.();
    const look = performance.now() + LOOK_MS;
    while (performance.now() < Math.min(deadline, look)) {
      await sleepOn(realTimers, PAUSE_MS, signal);
      if (this.#closed) break;
      const left = Math.max(1, deadline - performance.now());
      const timed = { ...options, ...(left < Infinity && { timeoutMs: left }) };
      const answer = await this.#askHolder((service) => service.call(method, request, timed));
      if (answer !== undefined) return answer;
    }
    throw new ServiceError(
      Code.DEADLINE_EXCEEDED,
      `${method} timed out: no process has ${this.path} open`,
    );
  }

  // ---- visits

  async #visiting<T>(
    writes: boolean,
    creates: boolean,
    use: (service: RawService) => Promise<T>,
  ): Promise<T> {
    const visit = await this.#inTurn(() => this.#enter(writes, creates));
    try {
      return await use(visit.service);
    } finally {
      visit.users--;
      if (visit.users === 0) {
        visit.timer = setTimeout(
          () => void this.#inTurn(() => this.#leave(visit)).catch(() => {}),
          LINGER_MS,
        );
      }
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #enter(writes: boolean, creates: boolean): Promise<Visit> {
    const open = this.#visit;
    if (open !== undefined) {
      const fresh = performance.now() - open.openedAt < MAX_VISIT_MS;
      if (fresh && (open.writes || !writes)) {
        clearTimeout(open.timer as number | undefined);
        open.users++;
        return open;
      }
      while (open.users > 0) await sleepOn(realTimers, 1);
      await this.#leave(open);
    }
    if (!existsSync(this.path) && !(creates && this.#options.create !== false)) {
      throw new ServiceError(
        Code.FAILED_PRECONDITION,
        `the store ${this.path} does not exist`,
        "NoStore",
      );
    }
    const namespace = this.#options.namespace ?? "default";
    const service = writes
      ? await EmbeddedEngine.open({ path: this.path, namespace, visit: true, onError: () => {} })
      : await ReadOnlyService.open(
        await openStore(this.path, { visit: true, readOnly: true }),
        namespace,
      );
    this.#visit = {
      service,
      writes,
      openedAt: performance.now(),
      users: 1,
      timer: undefined,
      close: () => service.close(),
    };
    return this.#visit;
  }

  async #leave(visit: Visit): Promise<void> {
    if (this.#visit !== visit || visit.users > 0) return;
    this.#visit = undefined;
    clearTimeout(visit.timer as number | undefined);
    await visit.close();
  }

  /** Closes the connection; open calls are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#holder !== undefined) this.#leaveHolder(this.#holder);
    this.#closeUnused();
    await this.#inTurn(async () => {
      const visit = this.#visit;
      if (visit === undefined) return;
      visit.users = 0;
      await this.#leave(visit);
    });
  }
}

/** Connects to the process that holds a store. */
export function lineTo(holder: NonNullable<ReturnType<typeof findHolder>>): GrpcService {
  return "socket" in holder
    ? new GrpcService({ address: `unix:${holder.socket}` })
    : new GrpcService({ address: `127.0.0.1:${holder.port}`, apiKey: holder.secret, tls: false });
}

/** Returns the error for a holder that was not reachable for {@link REACHABLE_MS}. */
export function unreachable(path: string, e: StoreLockedError): ServiceError {
  const who = e.holder === undefined ? "another process" : `process ${e.holder.pid}`;
  return new ServiceError(
    Code.FAILED_PRECONDITION,
    `${path} is open in ${who}, which cannot be reached: it was opened with serve: false, it runs in Deno ` +
      "without --allow-net, it could not create its socket (see its log), or it belongs to another user",
    "HolderUnreachable",
    {},
    { cause: e },
  );
}

function waits(request: Uint8Array): boolean {
  try {
    return fromBinary(GetWorkflowExecutionHistoryRequestSchema, request).waitNewEvent;
  } catch {
    // The service reports the error.
    return false;
  }
}

/**
 * Returns the path as the store resolves it: links of the folder are followed, also for a missing
 * file.
 */
export function resolveStorePath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const absolute = resolve(path);
    try {
      return join(realpathSync(dirname(absolute)), basename(absolute));
    } catch {
      return absolute;
    }
  }
}
