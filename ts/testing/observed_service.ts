// The service of a test's client, which counts what the client waits for. Virtual time advances
// only while a call waits for a result, and never while a call that may change the state is in
// progress.
import { fromBinary } from "@bufbuild/protobuf";
import type { CallOptions, MethodName, RawService } from "../service/raw.ts";
import {
  ExecuteMultiOperationRequestSchema,
  GetWorkflowExecutionHistoryRequestSchema,
  PollWorkflowExecutionUpdateRequestSchema,
  UpdateWorkflowExecutionRequestSchema,
} from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";

/** The subject of a waiting call. */
export interface Awaited {
  readonly workflowId: string;
  readonly runId?: string | undefined;
  /** Equal for all calls of one wait: a long poll is repeated. */
  readonly key: string;
  /** "the result", "update \"add\"". */
  readonly what: string;
}

/** Returns what a call waits for; undefined for calls that do not wait. */
export function awaits(method: MethodName, request: Uint8Array): Awaited | undefined {
  switch (method) {
    case "updateWorkflowExecution": {
      const { workflowExecution, request: update } = fromBinary(
        UpdateWorkflowExecutionRequestSchema,
        request,
      );
      return awaitedUpdate(workflowExecution, update?.meta?.updateId, update?.input?.name);
    }
    case "executeMultiOperation": {
      for (
        const { operation } of fromBinary(ExecuteMultiOperationRequestSchema, request).operations
      ) {
        if (operation.case !== "updateWorkflow") continue;
        const { workflowExecution, request: update } = operation.value;
        return awaitedUpdate(workflowExecution, update?.meta?.updateId, update?.input?.name);
      }
      return undefined;
    }
    case "pollWorkflowExecutionUpdate": {
      const { updateRef } = fromBinary(PollWorkflowExecutionUpdateRequestSchema, request);
      return awaitedUpdate(updateRef?.workflowExecution, updateRef?.updateId);
    }
    case "getWorkflowExecutionHistory": {
      const { waitNewEvent, execution } = fromBinary(
        GetWorkflowExecutionHistoryRequestSchema,
        request,
      );
      return waitNewEvent
        ? awaitedResult(execution?.workflowId ?? "", execution?.runId)
        : undefined;
    }
    default:
      return undefined;
  }
}

export function awaitedResult(workflowId: string, runId: string | undefined): Awaited {
  return { workflowId, runId, key: `result ${workflowId} ${runId ?? ""}`, what: "the result" };
}

export function awaitedUpdate(
  { workflowId = "", runId }: { workflowId?: string; runId?: string } = {},
  updateId = "",
  name?: string,
): Awaited {
  const what = name === undefined ? `update ${updateId}` : `update "${name}"`;
  return { workflowId, runId, key: `update ${workflowId} ${updateId}`, what };
}

/** Calls that change nothing. A client also makes them on its own while it waits. */
const READS = /^(?:describe|get|list|count|query)/;

type EngineService = RawService & Required<Pick<RawService, "callOther">>;

export class ObservedService implements EngineService {
  readonly #service: EngineService;
  readonly #onWait: () => void;
  readonly #waiting = new Map<(error: Error) => void, Awaited>();
  #busy = 0;
  /** Number of calls that may have changed something, without updates. */
  #acts = 0;

  /** `onWait` is called when a call begins to wait. */
  constructor(service: EngineService, onWait: () => void) {
    this.#service = service;
    this.#onWait = onWait;
  }

  /** Number of calls that wait for a result. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Returns the subjects of the calls that wait for a result. */
  awaited(): Iterable<Awaited> {
    return this.#waiting.values();
  }

  /** Increases with each call that may change something. */
  get acts(): number {
    return this.#acts;
  }

  /** Number of calls in progress. */
  get busy(): number {
    return this.#busy;
  }

  /** Counts as a call in progress while `work` runs, for example a codec. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#busy++;
    try {
      return await work();
    } finally {
      this.#busy--;
    }
  }

  /** Rejects the matching waits with an error: what they wait for will not come. */
  giveUp(error: Error, matches: (awaited: Awaited) => boolean): void {
    for (const [reject, awaited] of [...this.#waiting]) if (matches(awaited)) reject(error);
  }

  async call(method: MethodName, request: Uint8Array, options?: CallOptions): Promise<Uint8Array> {
    const awaited = awaits(method, request);
    if (awaited === undefined ? !READS.test(method) : method === "executeMultiOperation") {
      this.#acts++;
    }
    if (awaited !== undefined) return await this.#wait(awaited, method, request, options);
    return await this.during(() => this.#service.call(method, request, options));
  }

  /** Calls a function of the application. */
  async callOther(
    path: string,
    request: Uint8Array,
    options?: CallOptions,
  ): Promise<Uint8Array> {
    this.#acts++;
    return await this.during(() => this.#service.callOther(path, request, options));
  }

  #wait(
    awaited: Awaited,
    method: MethodName,
    request: Uint8Array,
    options: CallOptions | undefined,
  ): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const done = <T>(settle: (value: T) => void) => (value: T) => {
        this.#waiting.delete(reject);
        settle(value);
      };
      this.#waiting.set(reject, awaited);
      this.#service.call(method, request, options).then(done(resolve), done(reject));
      this.#onWait();
    });
  }
}
