// A RawService that calls the current leader. Calls are kept until their response: when the leader
// changes, all open calls are sent to the new one, in order, with the same bytes. The engine
// deduplicates by request and update ids, also after a restart, so nothing is applied twice.
import { Calls } from "../engine/calls.ts";
import { limited } from "../engine/limited.ts";
import { callCanceled } from "../engine/refusals.ts";
import { randomId } from "../platform/host.ts";
import { detachedCopy } from "../realm/protocol.ts";
import {
  type CallOptions,
  Code,
  type MethodName,
  type RawService,
  ServiceError,
} from "../service/raw.ts";
import type { SqlValue } from "../engine/sqlite/driver.ts";
import { StoreError } from "../engine/store_errors.ts";
import { fromData } from "./error_data.ts";
import type { ChoreValue, FromLeader, ToLeader } from "./messages.ts";

/** Target of calls. Routes with the same address are equal. */
export interface Route {
  readonly address: string;
  send(message: ToLeader): void;
}

interface Chore {
  readonly message: Extract<
    ToLeader,
    { k: "export" | "import" | "check" | "purge" | "fire" | "read" | "other" }
  >;
  readonly resolve: (value: ChoreValue) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Requests that are not sent a second time: a repeated import could be rejected or overwrite newer
 * runs, a repeated fire could reach another timer of the same name, and a function would run twice.
 */
const ONCE: { readonly [k in ToLeader["k"]]?: string } = {
  import: "imported: check whether the runs of the file exist before you retry",
  fire: "fired a timer: check whether it is still open before you retry",
  other: "ran a function: check its effects before you retry",
};

export class TabService implements RawService {
  /** Address for responses. */
  readonly address = randomId();
  readonly #calls: Calls;
  readonly #open = new Map<number, Extract<ToLeader, { k: "call" }>>();
  readonly #chores = new Map<number, Chore>();
  readonly #forClients: boolean;
  /** @internal The engine stores what runs show of themselves. */
  readonly showsRuns = true;
  /** @internal The engine of this tab runs reducers. */
  readonly runsReducers: boolean;
  #route: Route | undefined;
  #ended: ServiceError | undefined;
  #lastChore = 0;

  /**
   * `forClients`: a full store is reported at once, because a user waits; otherwise calls are
   * retried.
   */
  constructor(options: { forClients: boolean; runsReducers?: boolean }) {
    this.#forClients = options.forClients;
    this.runsReducers = options.runsReducers === true;
    this.#calls = new Calls({
      cancel: (id) => {
        if (this.#open.delete(id)) this.#route?.send({ k: "cancel", from: this.address, id });
      },
      expire: () => {},
    }, {});
  }

  call(method: MethodName, request: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    if (options.signal?.aborted) return Promise.reject(callCanceled());
    return new Promise((resolve, reject) => {
      const id = this.#calls.add(method, request, options, resolve, reject);
      const { timeoutMs, shown } = options;
      const timed = timeoutMs !== undefined && timeoutMs < Infinity ? { timeoutMs } : {};
      const message = {
        k: "call" as const,
        from: this.address,
        id,
        method,
        request: detachedCopy(request),
        ...timed,
        ...(shown && { shown }),
      };
      this.#open.set(id, message);
      this.#route?.send(message);
    });
  }

  export(): Promise<Blob> {
    return this.#chore((id) => ({ k: "export", from: this.address, id })) as Promise<Blob>;
  }

  async import(file: Blob, force: boolean): Promise<void> {
    await this.#chore((id) => ({ k: "import", from: this.address, id, file, force }));
  }

  check(): Promise<readonly string[]> {
    return this.#chore((id) => ({ k: "check", from: this.address, id })) as Promise<
      readonly string[]
    >;
  }

  purge(closedBefore: number, limit: number): Promise<number> {
    return this.#chore((id) => ({
      k: "purge",
      from: this.address,
      id,
      closedBefore,
      limit,
    })) as Promise<number>;
  }

  async fireTimer(workflowId: string, name: string, runId: string | undefined): Promise<void> {
    await this.#chore((id) => ({ k: "fire", from: this.address, id, workflowId, name, runId }));
  }

  async callOther(
    path: string,
    request: Uint8Array,
    limits: CallOptions = {},
  ): Promise<Uint8Array> {
    if (limits.signal?.aborted) throw callCanceled();
    const bytes = detachedCopy(request);
    let id = 0;
    const done = this.#chore((given) => {
      id = given;
      return { k: "other", from: this.address, id, path, request: bytes };
    });
    try {
      return await limited(done, limits, () => this.#late()) as Uint8Array;
    } finally {
      // A later leader must not run what has failed for the caller.
      this.#chores.delete(id);
    }
  }

  #late(): ServiceError {
    return new ServiceError(
      Code.DEADLINE_EXCEEDED,
      this.#route === undefined
        ? "no leader tab was found in time"
        : "the leader tab did not respond",
    );
  }

  read(sql: string, params: readonly SqlValue[]): Promise<readonly object[]> {
    return this.#chore((id) => ({ k: "read", from: this.address, id, sql, params })) as Promise<
      readonly object[]
    >;
  }

  #chore(make: (id: number) => Chore["message"]): Promise<ChoreValue> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      // Calls have positive ids.
      const message = make(--this.#lastChore);
      this.#chores.set(message.id, { message, resolve, reject });
      this.#route?.send(message);
    });
  }

  /** True while calls or requests wait for a response. */
  get waiting(): boolean {
    return this.#open.size > 0 || this.#chores.size > 0;
  }

  get leader(): string | undefined {
    return this.#route?.address;
  }

  /** Sets the route to the current leader; undefined if no leader is known. */
  follow(route: Route | undefined): void {
    if (route?.address === this.#route?.address) return;
    const had = this.#route;
    this.#route = route;
    if (had !== undefined) this.#dropOnce();
    this.#sendAll(() => true);
  }

  /**
   * Sends open calls again after a freeze of this page, which may have lost responses. Does not
   * repeat requests in ONCE.
   */
  askAgain(): void {
    this.#sendAll(({ k }) => ONCE[k] === undefined);
  }

  #sendAll(which: (message: ToLeader) => boolean): void {
    const route = this.#route;
    if (route === undefined) return;
    for (const message of this.#open.values()) route.send(message);
    for (const { message } of this.#chores.values()) if (which(message)) route.send(message);
  }

  /** Rejects requests in ONCE, whose outcome is not known. */
  #dropOnce(): void {
    for (const [id, { message, reject }] of this.#chores) {
      const why = ONCE[message.k];
      if (why === undefined) continue;
      this.#chores.delete(id);
      const problem = `the leader tab closed while it ${why}`;
      reject(
        message.k === "other"
          ? new ServiceError(Code.UNAVAILABLE, problem, "LeaderClosed")
          : new StoreError(problem),
      );
    }
  }

  receive(answer: FromLeader): void {
    if (answer?.to !== this.address) return;
    const chore = this.#chores.get(answer.id);
    if (chore !== undefined) {
      this.#chores.delete(answer.id);
      if (answer.k === "answer") chore.resolve(answer.value as ChoreValue);
      else chore.reject(fromData(answer.error));
      return;
    }
    this.#open.delete(answer.id);
    const call = this.#calls.take(answer.id);
    if (call === undefined) return;
    if (answer.k === "answer") call.resolve(answer.value as Uint8Array);
    else call.reject(this.#refusal(fromData(answer.error)));
  }

  #refusal(e: Error): ServiceError {
    if (!(e instanceof ServiceError)) {
      return new ServiceError(Code.INTERNAL, e.message, e.name, {}, { cause: e });
    }
    if (!this.#forClients || e.reason !== "StoreFull" || e.code !== Code.UNAVAILABLE) return e;
    return new ServiceError(
      Code.RESOURCE_EXHAUSTED,
      e.message.replace(/; retry$/, ""),
      "StoreFull",
      e.metadata,
    );
  }

  /** Rejects all open and future calls. */
  end(error: ServiceError): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    // A worker's long polls would stay in the engine until they expire.
    for (const id of this.#open.keys()) this.#route?.send({ k: "cancel", from: this.address, id });
    this.#open.clear();
    this.#calls.rejectAll(error);
    this.#calls.close();
    for (const { reject } of this.#chores.values()) reject(error);
    this.#chores.clear();
  }
}
