// A RawService with scripted responses, for rules that need a service that misbehaves. Requests and
// responses pass through bytes, as with a real one; a method without a script fails the call by
// name.
import {
  create,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import {
  type CallOptions,
  Code,
  type MethodName,
  type RawService,
  ServiceError,
} from "../../ts/service/raw.ts";
import { WorkflowService } from "../../ts/messages/generated/temporal/api/workflowservice/v1/service_pb.ts";

type Methods = typeof WorkflowService.method;
type Input<M extends MethodName> = MessageShape<Methods[M]["input"]>;
type Output<M extends MethodName> = MessageInitShape<Methods[M]["output"]>;
type Script<M extends MethodName> = (
  request: Input<M>,
  options: CallOptions,
  attempt: number,
) => Output<M> | Promise<Output<M>>;

export interface RecordedCall<M extends MethodName = MethodName> {
  method: M;
  request: Input<M>;
  options: CallOptions;
}

export class ScriptedService implements RawService {
  readonly calls: RecordedCall[] = [];
  readonly #scripts = new Map<MethodName, Script<never>>();

  on<M extends MethodName>(method: M, script: Script<M>): this {
    this.#scripts.set(method, script as unknown as Script<never>);
    return this;
  }

  /** Requests of one method so far. */
  requests<M extends MethodName>(method: M): Input<M>[] {
    return this.calls.filter((call) => call.method === method).map((call) =>
      call.request as Input<M>
    );
  }

  async call(
    method: MethodName,
    bytes: Uint8Array,
    options: CallOptions = {},
  ): Promise<Uint8Array> {
    const { input, output } = WorkflowService.method[method];
    const request = fromBinary(input as never, bytes) as never;
    this.calls.push({ method, request, options });
    const script = this.#scripts.get(method);
    if (script === undefined) {
      throw new ServiceError(Code.UNIMPLEMENTED, `this test has no script for ${method}`);
    }
    const attempt = this.calls.filter((call) => call.method === method).length;
    const response = await (script as unknown as Script<MethodName>)(request, options, attempt);
    return toBinary(output as never, create(output as never, response as never));
  }
}

export function unavailable(message = "the service is away"): never {
  throw new ServiceError(Code.UNAVAILABLE, message);
}

/** A long poll: waits until its caller cancels it. */
export function waits(options: CallOptions): Promise<never> {
  return new Promise((_, reject) => {
    const timer = options.timeoutMs === undefined ? undefined : setTimeout(
      () => reject(new ServiceError(Code.DEADLINE_EXCEEDED, "deadline exceeded")),
      options.timeoutMs,
    );
    options.signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new ServiceError(Code.CANCELLED, "the caller gave up"));
    });
  });
}
