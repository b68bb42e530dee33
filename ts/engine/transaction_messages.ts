// Messages to workflows from a transaction of the application or from a reducer. Each is tried at
// once on copies of the runs that it names, so that its error is thrown where it is sent. All enter
// the core in their order when the function has returned (core-rs/src/engine/trial.rs).
import type { CoreEngine } from "../core/engine.ts";
import type {
  EngineMethod,
  LoadRequest,
  Reply,
  RunRecord,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { MethodName, ServiceError } from "../service/raw.ts";
import { tryBroadcast } from "./broadcast.ts";
import type { Clock } from "./clock.ts";
import { ENGINE_METHODS } from "./methods.ts";
import { replyError } from "./replies.ts";
import type { RunReader } from "./run_reader.ts";
import type { Store } from "./store.ts";
import { StoreError } from "./store_errors.ts";

/**
 * A transaction of the application was rolled back because it returned a promise or a generator, or
 * it sent a message after its end.
 */
export class TransactionError extends Error {
  override name = "TransactionError";
}

/** The methods of WorkflowService that a transaction can call. */
export type TransactionMethod = Extract<
  MethodName,
  | "startWorkflowExecution"
  | "signalWorkflowExecution"
  | "signalWithStartWorkflowExecution"
  | "requestCancelWorkflowExecution"
  | "describeWorkflowExecution"
  | "respondActivityTaskCompletedById"
  | "respondActivityTaskFailedById"
>;

/** Calls a method in a transaction. Returns the response, or throws a ServiceError. */
export type TransactionCall = (method: TransactionMethod, request: Uint8Array) => Uint8Array;

/** A signal without a workflow: one to every subscriber. */
export type TransactionBroadcast = (request: Uint8Array) => Uint8Array;

/** What messages need of the engine that they go to. */
export interface MessageHost {
  /** The current core. */
  readonly engine: CoreEngine;
  readonly store: Pick<Store, "subscribers">;
  read(load: LoadRequest): RunRecord;
  nowMs(): number;
  /** Returns a request id that no other call has. */
  reserveId(): number;
}

/** Makes a message host of the parts of an engine; the core may be replaced. */
export function messageHost(
  store: MessageHost["store"],
  reader: Pick<RunReader, "read">,
  clock: Clock,
  calls: Pick<MessageHost, "reserveId">,
  engine: () => CoreEngine,
): MessageHost {
  return {
    store,
    read: (load) => reader.read(load),
    nowMs: () => clock.nowMs(),
    reserveId: () => calls.reserveId(),
    get engine() {
      return engine();
    },
  };
}

interface Message {
  readonly method: EngineMethod;
  readonly request: Uint8Array;
}

/**
 * Messages that come to the same in the trial and in the engine, with no effect on other runs and
 * no new ids: the trial stays valid when they have entered.
 */
const SAME_IN_TRIAL: ReadonlySet<EngineMethod> = new Set([ENGINE_METHODS.signalWorkflowExecution!]);

/**
 * The copies of runs on which messages are tried. Consecutive transactions of a batch share them, so
 * that each run is copied once.
 */
export class MessageTrial {
  readonly #host: MessageHost;
  #open = false;

  constructor(host: MessageHost) {
    this.#host = host;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  begin(): void {
    settleRuns(this.#host);
    this.#host.engine.beginTrial(this.#host.nowMs());
    this.#open = true;
  }

  /** Drops the copies. */
  end(): void {
    if (!this.#open) return;
    this.#open = false;
    // A core that has failed is replaced, with its copies.
    if (!this.#host.engine.poisoned) this.#host.engine.endTrial();
  }
}

/** The messages of one transaction, or of the reducers of one workflow task. */
export class TransactionMessages {
  readonly #host: MessageHost;
  readonly #trial: MessageTrial;
  #messages: Message[] = [];
  #trouble: StoreError | undefined;
  #open = false;

  constructor(host: MessageHost, trial: MessageTrial = new MessageTrial(host)) {
    this.#host = host;
    this.#trial = trial;
  }

  /** Number of messages. */
  get count(): number {
    return this.#messages.length;
  }

  /** The error of the store that a message has met. */
  get trouble(): StoreError | undefined {
    return this.#trouble;
  }

  /** Calls `work`, which may send messages. An error withdraws those that it has sent. */
  during<T>(work: () => T): T {
    const before = this.#messages.length;
    const outer = this.#open;
    this.#open = true;
    try {
      return work();
    } catch (error) {
      if (this.#messages.length > before) {
        this.#messages.length = before;
        this.#trial.end();
      }
      throw error;
    } finally {
      this.#open = outer;
    }
  }

  /** Ends the trial; the messages stay. */
  ended(): void {
    this.#trial.end();
  }

  /** Withdraws all messages. */
  withdraw(): void {
    this.#messages = [];
    this.#trial.end();
  }

  /** Sends a message, or reads. */
  readonly call: TransactionCall = (method, request) => {
    if (!this.#open) throw endedError();
    const number = ENGINE_METHODS[method]!;
    if (!this.#trial.isOpen) this.#beginTrial();
    const body = this.#try(number, request);
    if (method !== "describeWorkflowExecution") this.#messages.push({ method: number, request });
    return body;
  };

  /** Sends the signals of a broadcast. */
  readonly broadcast: TransactionBroadcast = (request) => {
    if (!this.#open) throw endedError();
    try {
      return tryBroadcast(
        this.#host.store,
        request,
        (signal) => void this.call("signalWorkflowExecution", signal),
      );
    } catch (error) {
      if (error instanceof StoreError) this.#trouble = error;
      throw error;
    }
  };

  /** Earlier messages are tried again: the trial that had them was dropped. */
  #beginTrial(): void {
    this.#trial.begin();
    for (const { method, request } of this.#messages) this.#try(method, request);
  }

  #try(method: EngineMethod, request: Uint8Array): Uint8Array {
    const { engine } = this.#host;
    const asked = [engine.tryRequest(this.#host.reserveId(), method, request)];
    let reply: Reply | undefined;
    for (const { loads, replies } of asked) {
      reply = replies.at(-1) ?? reply;
      for (const load of loads) asked.push(engine.tryLoad(this.#host.read(load)));
    }
    if (reply === undefined) throw new Error("internal error: a message of a transaction waits");
    if (reply.error !== undefined) throw replyError(reply.error);
    return reply.body;
  }

  /**
   * Enters the messages into the core. Returns the first error; the batch must not be committed
   * then. This cannot happen unless other commands of the same workflow task have interfered.
   */
  enter(): ServiceError | undefined {
    if (this.#messages.length === 0) return undefined;
    if (!this.#messages.every(({ method }) => SAME_IN_TRIAL.has(method))) this.#trial.end();
    const host = this.#host;
    settleRuns(host);
    for (const { method, request } of this.#messages) {
      const { error } = enterRequest(host, method, request);
      if (error !== undefined) return replyError(error);
    }
    return undefined;
  }
}

/** Enters a request into the open batch, with the runs that it needs. Returns its reply. */
export function enterRequest(host: MessageHost, method: EngineMethod, request: Uint8Array): Reply {
  const id = host.reserveId();
  const nowMs = host.nowMs();
  host.engine.request(id, method, request, nowMs);
  let news = host.engine.entered(id);
  while (news.replies.length === 0) {
    if (news.loads.length === 0) throw new Error("internal error: a message of a batch waits");
    for (const load of news.loads) host.engine.load(host.read(load), nowMs);
    news = host.engine.entered(id);
  }
  return news.replies[0]!;
}

/** Loads the runs that earlier calls wait for, and carries out orders of runs to other runs. */
export function settleRuns(host: Pick<MessageHost, "engine" | "read" | "nowMs">): void {
  for (;;) {
    const { loads } = host.engine.entered(0);
    if (loads.length === 0) return;
    for (const load of loads) host.engine.load(host.read(load), host.nowMs());
  }
}

function endedError(): TransactionError {
  return new TransactionError(
    "the transaction has ended: use its workflows only inside the function, which is synchronous",
  );
}
