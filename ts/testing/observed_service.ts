// The service as a test's client sees it, with a count of what that client waits for. Virtual time moves only while somebody waits for a
// result, and never while a call is on its way that may change what happens next.
import { fromBinary } from "@bufbuild/protobuf";
import type { CallOptions, MethodName, RawService } from "../service/raw.ts";
import {
  GetWorkflowExecutionHistoryRequestSchema,
  PollWorkflowExecutionUpdateRequestSchema,
  UpdateWorkflowExecutionRequestSchema,
} from "../api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";

/** What a call waits for. */
export interface Awaited {
  readonly workflowId: string;
  /** "the result", "update \"add\"". */
  readonly what: string;
}

/** What the call waits for; undefined where it waits for nothing. */
function awaits(method: MethodName, request: Uint8Array): Awaited | undefined {
  switch (method) {
    case "updateWorkflowExecution": {
      const { workflowExecution, request: update } = fromBinary(UpdateWorkflowExecutionRequestSchema, request);
      return { workflowId: workflowExecution?.workflowId ?? "", what: `update "${update?.input?.name ?? ""}"` };
    }
    case "pollWorkflowExecutionUpdate": {
      const { updateRef } = fromBinary(PollWorkflowExecutionUpdateRequestSchema, request);
      return { workflowId: updateRef?.workflowExecution?.workflowId ?? "", what: `update ${updateRef?.updateId ?? ""}` };
    }
    case "getWorkflowExecutionHistory": {
      const { waitNewEvent, execution } = fromBinary(GetWorkflowExecutionHistoryRequestSchema, request);
      return waitNewEvent ? { workflowId: execution?.workflowId ?? "", what: "the result" } : undefined;
    }
    default:
      return undefined;
  }
}

export class ObservedService implements RawService {
  readonly #service: RawService;
  readonly #onWait: () => void;
  readonly #waiting = new Map<(error: Error) => void, Awaited>();
  #busy = 0;
  /** Calls so far that did something else than wait. */
  #acts = 0;

  /** `onWait` is called whenever somebody begins to wait. */
  constructor(service: RawService, onWait: () => void) {
    this.#service = service;
    this.#onWait = onWait;
  }

  /** Calls that wait for a result. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** What the calls that wait for a result wait for. */
  awaited(): Iterable<Awaited> {
    return this.#waiting.values();
  }

  /** Grows with each call that does something else than wait. */
  get acts(): number {
    return this.#acts;
  }

  /** Calls that are on their way. */
  get busy(): number {
    return this.#busy;
  }

  /** Something is on its way while this runs: a codec at work on a call. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#busy++;
    try {
      return await work();
    } finally {
      this.#busy--;
    }
  }

  /** Ends all waiting with an error, or that for one workflow: what they wait for will not come. */
  giveUp(error: Error, workflowId?: string): void {
    for (const [reject, awaited] of [...this.#waiting]) {
      if (workflowId === undefined || awaited.workflowId === workflowId) reject(error);
    }
  }

  async call(method: MethodName, request: Uint8Array, options?: CallOptions): Promise<Uint8Array> {
    const awaited = awaits(method, request);
    if (awaited !== undefined) return await this.#wait(awaited, method, request, options);
    this.#acts++;
    return await this.during(() => this.#service.call(method, request, options));
  }

  #wait(awaited: Awaited, method: MethodName, request: Uint8Array, options: CallOptions | undefined): Promise<Uint8Array> {
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
