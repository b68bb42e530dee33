// The service as a test's client sees it, with a count of what that client waits for. Virtual time moves only while somebody waits for a
// result, and never while a call is on its way that may change what happens next.
import { fromBinary } from "@bufbuild/protobuf";
import type { CallOptions, MethodName, RawService } from "../service/raw.ts";
import { GetWorkflowExecutionHistoryRequestSchema } from "../temporal/generated/temporal/api/workflowservice/v1/request_response_pb.ts";

/** Does the call wait for a workflow to get somewhere? */
function awaits(method: MethodName, request: Uint8Array): boolean {
  switch (method) {
    case "updateWorkflowExecution":
    case "pollWorkflowExecutionUpdate":
      return true;
    case "getWorkflowExecutionHistory":
      return fromBinary(GetWorkflowExecutionHistoryRequestSchema, request).waitNewEvent;
    default:
      return false;
  }
}

export class WatchedService implements RawService {
  readonly #service: RawService;
  readonly #onWait: () => void;
  readonly #waiting = new Set<(error: Error) => void>();
  #busy = 0;

  /** `onWait` is called whenever somebody begins to wait. */
  constructor(service: RawService, onWait: () => void) {
    this.#service = service;
    this.#onWait = onWait;
  }

  /** Calls that wait for a result. */
  get waiting(): number {
    return this.#waiting.size;
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

  /** Ends all waiting with an error: what they wait for will not come. */
  giveUp(error: Error): void {
    for (const reject of [...this.#waiting]) reject(error);
  }

  async call(method: MethodName, request: Uint8Array, options?: CallOptions): Promise<Uint8Array> {
    if (awaits(method, request)) return await this.#wait(method, request, options);
    return await this.during(() => this.#service.call(method, request, options));
  }

  #wait(method: MethodName, request: Uint8Array, options: CallOptions | undefined): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const done = <T>(settle: (value: T) => void) => (value: T) => {
        this.#waiting.delete(reject);
        settle(value);
      };
      this.#waiting.add(reject);
      this.#service.call(method, request, options).then(done(resolve), done(reject));
      this.#onWait();
    });
  }
}
