// The workflows of a transaction: messages that the engine commits with the application's rows.
// Calls are synchronous: retries, deadlines and interceptors do not apply.
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { rejectMisspelledOptions } from "../base/option_names.ts";
import type { SyncMessageCodec } from "../codec/sync_codec.ts";
import { toFailure } from "../converter/failure_converter.ts";
import {
  BROADCAST_CONTROL,
  reached as reachedBy,
  type SubscriptionFilter,
} from "../converter/subscriptions.ts";
import {
  DescribeWorkflowExecutionRequestSchema,
  DescribeWorkflowExecutionResponseSchema,
  RequestCancelWorkflowExecutionRequestSchema,
  RespondActivityTaskCompletedByIdRequestSchema,
  RespondActivityTaskFailedByIdRequestSchema,
  SignalWithStartWorkflowExecutionRequestSchema,
  SignalWorkflowExecutionRequestSchema,
  SignalWorkflowExecutionResponseSchema,
  StartWorkflowExecutionRequestSchema,
} from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { randomId } from "../platform/host.ts";
import { readOutcome } from "../service/broadcast.ts";
import { encodeArgs, nameError } from "./context.ts";
import {
  type AnyWorkflow,
  type ArgsOption,
  definitionName,
  type Signal,
  type WorkflowArgs,
} from "./definitions.ts";
import { toDescription, type WorkflowDescription } from "./descriptions.ts";
import {
  ActivityNotFoundError,
  BroadcastIncompleteError,
  WorkflowNotFoundError,
} from "./errors.ts";
import type { OperationContext } from "./interceptors.ts";
import type { WorkflowOptions } from "./options.ts";
import {
  pickProcedure,
  PROCEDURE_ADDRESS,
  type ProcedureAddress,
  procedureGone,
  whichOf,
} from "./procedures.ts";
import { SIGNAL_WITH_START_OPTIONS, startError, startInput, startRequest } from "./starts.ts";
import { refuseLoneSurrogates } from "./well_formed.ts";

/** Options of `workflows.start` in a transaction. */
export type TransactionStartOptions<W extends AnyWorkflow> =
  & WorkflowOptions
  & ArgsOption<WorkflowArgs<W>>;

/** Options of `workflows.signalWithStart` in a transaction; `signal` is the message. */
export type TransactionSignalWithStartOptions<W extends AnyWorkflow, A extends unknown[]> =
  & TransactionStartOptions<W>
  & { signal: Signal<A> | string }
  & ([] extends A ? { signalArgs?: NoInfer<A> } : { signalArgs: NoInfer<A> });

/** What carries the calls of one transaction to its engine. */
export interface TransactionTransport {
  call(
    method:
      | "startWorkflowExecution"
      | "signalWorkflowExecution"
      | "signalWithStartWorkflowExecution"
      | "requestCancelWorkflowExecution"
      | "describeWorkflowExecution"
      | "respondActivityTaskCompletedById"
      | "respondActivityTaskFailedById",
    request: Uint8Array,
  ): Uint8Array;
  broadcast(request: Uint8Array): Uint8Array;
}

/**
 * Messages to workflows in a transaction. They are recorded by the commit of the transaction, in
 * the order of the calls, or not at all. Each call throws its error at once; an error that the
 * function catches withdraws that message only.
 *
 * @example
 * await app.transaction((db, workflows) => {
 *   db.run("UPDATE npc SET hp = hp - ? WHERE id = ?", 10, 7);
 *   workflows.signal("npc-7", npcSignals.damaged, 10);
 * });
 */
export class TransactionWorkflows {
  readonly #context: OperationContext;
  readonly #codec: SyncMessageCodec | undefined;
  readonly #transport: TransactionTransport;

  private constructor(
    context: OperationContext,
    codec: SyncMessageCodec | undefined,
    transport: TransactionTransport,
  ) {
    this.#context = context;
    this.#codec = codec;
    this.#transport = transport;
  }

  /** @internal The messages that this transport carries. */
  static createWithin(
    context: OperationContext,
    codec: SyncMessageCodec | undefined,
    transport: TransactionTransport,
  ): TransactionWorkflows {
    return new TransactionWorkflows(context, codec, transport);
  }

  /**
   * Starts a workflow and returns its id. Throws a WorkflowExecutionAlreadyStartedError if the id
   * is in use.
   */
  start<W extends AnyWorkflow>(workflow: W, options: TransactionStartOptions<W>): string {
    const input = startInput(this.#context, workflow, (options ?? {}) as WorkflowOptions);
    try {
      this.#transport.call(
        "startWorkflowExecution",
        this.#bytes(StartWorkflowExecutionRequestSchema, startRequest(this.#context, input)),
      );
    } catch (error) {
      throw startError(this.#context, error, input);
    }
    return input.options.id;
  }

  /**
   * Signals a workflow. Throws a WorkflowNotFoundError if it does not exist or is closed.
   */
  signal<A extends unknown[] = unknown[]>(
    workflowId: string,
    signal: Signal<A> | string,
    ...args: NoInfer<A>
  ): void {
    const name = definitionName(signal);
    const execution = executionOf(workflowId);
    const what = `signal "${name}" to workflow ${execution.workflowId}`;
    const request = this.#bytes(SignalWorkflowExecutionRequestSchema, {
      ...this.#sender(),
      workflowExecution: execution,
      signalName: name,
      input: encodeArgs(this.#context, `the arguments of signal "${name}"`, args),
      // Without a request id, which the run would keep: a transaction is not sent again.
    });
    this.#named(what, execution, () => this.#transport.call("signalWorkflowExecution", request));
  }

  /** Signals a workflow, and starts it first if it is not running. Returns its id. */
  signalWithStart<W extends AnyWorkflow, A extends unknown[] = unknown[]>(
    workflow: W,
    options: TransactionSignalWithStartOptions<W, A>,
  ): string {
    const { signal, signalArgs = [], ...given } = options as unknown as
      & TransactionSignalWithStartOptions<string, unknown[]>
      & { signalArgs?: unknown[] };
    const input = startInput(this.#context, workflow, given, SIGNAL_WITH_START_OPTIONS);
    const name = definitionName(signal);
    try {
      this.#transport.call(
        "signalWithStartWorkflowExecution",
        this.#bytes(SignalWithStartWorkflowExecutionRequestSchema, {
          ...startRequest(this.#context, input),
          signalName: name,
          signalInput: encodeArgs(this.#context, `the arguments of signal "${name}"`, signalArgs),
        }),
      );
    } catch (error) {
      throw startError(this.#context, error, input);
    }
    return input.options.id;
  }

  /**
   * Signals all workflows that have subscribed to the signal, as `client.broadcast`. Returns the
   * number of workflows reached. Throws a BroadcastIncompleteError with those that did not receive
   * the signal; a function that catches it keeps the others.
   */
  broadcast<A extends unknown[] = unknown[]>(
    signal: Signal<A> | string,
    filter: SubscriptionFilter | undefined,
    ...args: NoInfer<A>
  ): number {
    const name = definitionName(signal);
    const what = `the broadcast of signal "${name}"`;
    const request = this.#bytes(SignalWorkflowExecutionRequestSchema, {
      ...this.#sender(),
      signalName: name,
      input: encodeArgs(this.#context, `the arguments of ${what}`, args),
      control: BROADCAST_CONTROL + JSON.stringify(reachedBy(name, filter)),
    });
    const { link } = fromBinary(
      SignalWorkflowExecutionResponseSchema,
      this.#named(what, undefined, () => this.#transport.broadcast(request)),
    );
    const { reached, missed } = readOutcome(
      link?.variant.case === "batchJob" ? link.variant.value.jobId : "0",
    );
    if (missed.length > 0) throw new BroadcastIncompleteError(what, reached, missed);
    return reached;
  }

  /** Requests cancellation of a workflow. Throws a WorkflowNotFoundError if it is not running. */
  cancel(workflowId: string, reason = ""): void {
    const execution = executionOf(workflowId);
    const request = this.#bytes(RequestCancelWorkflowExecutionRequestSchema, {
      ...this.#sender(),
      workflowExecution: execution,
      reason,
      requestId: randomId(),
    });
    this.#named(
      `the cancellation of workflow ${execution.workflowId}`,
      execution,
      () => this.#transport.call("requestCancelWorkflowExecution", request),
    );
  }

  /**
   * Completes a procedure with a result, as `client.completeProcedure`; returns the procedure's id.
   * Throws a ProcedureNotFoundError if it is not pending.
   */
  completeProcedure<R = unknown>(address: ProcedureAddress<R>, value?: NoInfer<R>): string {
    const result = encodeArgs(this.#context, "the result of a procedure", [value]);
    return this.#answer(address, (sender) => {
      const request = this.#bytes(RespondActivityTaskCompletedByIdRequestSchema, {
        ...sender,
        result,
      });
      this.#transport.call("respondActivityTaskCompletedById", request);
    });
  }

  /**
   * Fails a procedure, selected as in `completeProcedure`: the workflow receives an ActivityFailure
   * with `error` as its cause.
   */
  failProcedure(address: ProcedureAddress<unknown>, error: unknown): string {
    const { failures, converter } = this.#context;
    const failure = failures?.toFailure(error) ?? toFailure(error, converter);
    return this.#answer(address, (sender) => {
      const request = this.#bytes(RespondActivityTaskFailedByIdRequestSchema, {
        ...sender,
        failure,
      });
      this.#transport.call("respondActivityTaskFailedById", request);
    });
  }

  #answer(
    address: ProcedureAddress<unknown>,
    send: (
      address: {
        namespace: string;
        identity: string;
        workflowId: string;
        runId: string;
        activityId: string;
      },
    ) => void,
  ): string {
    rejectMisspelledOptions("the address of a procedure", address, PROCEDURE_ADDRESS);
    if (address.idempotencyKey !== undefined) {
      throw new TypeError(
        "idempotencyKey is not supported in a transaction: insert the key into a table with a UNIQUE column in the same transaction",
      );
    }
    const which = whichOf(address);
    const execution = executionOf(address.workflow, address.runId);
    const run = this.#describe(execution);
    const { workflowId, runId } = run;
    const first = pickProcedure(run, which);
    try {
      this.#named(
        `procedure ${first.id}`,
        undefined,
        () => send({ ...this.#sender(), workflowId, runId, activityId: first.id }),
      );
    } catch (error) {
      throw error instanceof ActivityNotFoundError
        ? procedureGone(run, which, first, error)
        : error;
    }
    return first.id;
  }

  #describe(execution: Execution): WorkflowDescription {
    const { namespace, converter } = this.#context;
    const request = this.#bytes(DescribeWorkflowExecutionRequestSchema, { namespace, execution });
    const described = this.#named(
      `the description of workflow ${execution.workflowId}`,
      execution,
      () => this.#transport.call("describeWorkflowExecution", request),
    );
    const run = toDescription(
      fromBinary(DescribeWorkflowExecutionResponseSchema, described),
      converter,
    );
    if (run === undefined) {
      throw new WorkflowNotFoundError(
        "the service returned an empty description",
        execution.workflowId,
        execution.runId,
      );
    }
    return run;
  }

  #sender(): { namespace: string; identity: string } {
    const { namespace, identity } = this.#context;
    return { namespace, identity };
  }

  #named<T>(what: string, execution: Execution | undefined, call: () => T): T {
    try {
      return call();
    } catch (error) {
      throw nameError(this.#context, error, {
        what,
        ...(execution !== undefined && {
          workflowId: execution.workflowId,
          runId: execution.runId || undefined,
        }),
      });
    }
  }

  #bytes<D extends DescMessage>(schema: D, message: MessageInitShape<D>): Uint8Array {
    refuseLoneSurrogates(message);
    const bytes = toBinary(schema, create(schema, message));
    return this.#codec?.encode(schema, bytes, "a message of a transaction") ?? bytes;
  }
}

interface Execution {
  readonly workflowId: string;
  readonly runId: string;
}

function executionOf(workflowId: string, runId = ""): Execution {
  if (typeof workflowId !== "string" || workflowId === "") {
    throw new TypeError(
      `a message in a transaction needs the id of a workflow, but received ${
        JSON.stringify(workflowId)
      }; write workflows.signal("order-1", paid)`,
    );
  }
  return { workflowId, runId };
}
