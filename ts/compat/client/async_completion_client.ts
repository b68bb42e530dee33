// `AsyncCompletionClient` of `@temporalio/client`: completes activities from outside, over the
// native client.
import {
  checkActivityAddress,
  completeActivity,
  failActivity,
  heartbeatActivity,
  reportCancellation,
} from "../../client/activity_completion.ts";
import { ensureTemporalFailure } from "../common/failures.ts";
import { RawValue } from "../common/payload_converters.ts";
import { toPayloadWithTypeInfo } from "../common/payloads.ts";
import type { ActivitySerializationContext, PayloadTypeInfo } from "../common/type_info.ts";
import { BaseClient, type BaseClientOptions, type LoadedWithDefaults } from "./base_client.ts";
import type { WorkflowService } from "./plain_service.ts";
import { officialActivityError, refusing } from "./refusals.ts";

/** Options of an {@link AsyncCompletionClient}. */
export type AsyncCompletionClientOptions = BaseClientOptions;
/** Options with their defaults. */
export type LoadedAsyncCompletionClientOptions = LoadedWithDefaults<AsyncCompletionClientOptions>;
/** Options of a report on an activity by its task token. */
export interface AsyncCompletionOperationOptions {
  /** Context of the payloads. */
  serializationContext?: ActivitySerializationContext;
}
/** Options of a completion. */
export interface AsyncCompletionCompleteOptions {
  /** Type hint of the result. */
  typeInfo?: Pick<PayloadTypeInfo, "outputType">;
}

/** An activity by its ids. */
export interface FullActivityId {
  workflowId?: string;
  /** Run of the workflow. Default: the current one. */
  runId?: string;
  activityId: string;
}

type Address = Uint8Array | FullActivityId;
type Options = AsyncCompletionOperationOptions & AsyncCompletionCompleteOptions;

/** Completes activities from outside, by task token or by ids. */
export class AsyncCompletionClient extends BaseClient {
  /** Options with defaults. */
  declare readonly options: LoadedAsyncCompletionClientOptions;

  constructor(options: AsyncCompletionClientOptions = {}) {
    super(options);
  }

  /** Temporal's WorkflowService. */
  get workflowService(): WorkflowService {
    return this.connection.workflowService;
  }

  #context(address: Address, options: AsyncCompletionOperationOptions | undefined) {
    checkActivityAddress(normalizeAddress(address));
    const given = options?.serializationContext;
    if (given !== undefined || address instanceof Uint8Array) return this.operationContext(given);
    const { workflowId, activityId } = address;
    return this.operationContext({
      type: "activity",
      namespace: this.options.namespace,
      activityId,
      ...(workflowId !== undefined && { workflowId }),
      isLocal: false,
    });
  }

  #report(fn: () => Promise<void>): Promise<void> {
    return refusing(this, fn, { fallback: "" }, officialActivityError);
  }

  /**
   * Completes the activity with a result. Throws an ActivityNotFoundError if it is unknown or not
   * pending.
   */
  async complete(address: Address, result: unknown, options?: Options): Promise<void> {
    const context = this.#context(address, options);
    const type = options?.typeInfo?.outputType;
    const { payloadConverter } = this.dataConverter;
    const value = type === undefined ? result : RawValue.fromPayload(
      toPayloadWithTypeInfo(payloadConverter, result, options?.serializationContext, type),
    );
    await this.#report(() =>
      completeActivity(context, normalizeAddress(address), value, this.callSettings())
    );
  }

  /** Fails the activity. */
  async fail(
    address: Address,
    err: unknown,
    options?: AsyncCompletionOperationOptions,
  ): Promise<void> {
    const context = this.#context(address, options);
    await this.#report(() =>
      failActivity(
        context,
        normalizeAddress(address),
        ensureTemporalFailure(err),
        this.callSettings(),
      )
    );
  }

  /** Reports the activity as canceled. */
  async reportCancellation(
    address: Address,
    details?: unknown,
    options?: AsyncCompletionOperationOptions,
  ): Promise<void> {
    const context = this.#context(address, options);
    await this.#report(() =>
      reportCancellation(context, normalizeAddress(address), [details], this.callSettings())
    );
  }

  /** Records a heartbeat. Throws an ActivityCancelledError if the activity is canceled. */
  async heartbeat(
    address: Address,
    details?: unknown,
    options?: AsyncCompletionOperationOptions,
  ): Promise<void> {
    const context = this.#context(address, options);
    await this.#report(() =>
      heartbeatActivity(context, normalizeAddress(address), [details], this.callSettings())
    );
  }
}

function normalizeAddress(
  address: Address,
): Uint8Array | { workflowId: string; activityId: string; runId?: string } {
  return typeof address !== "object" || address === null || ArrayBuffer.isView(address)
    ? address
    : { workflowId: "", ...address };
}
