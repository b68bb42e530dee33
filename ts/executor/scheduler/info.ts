// Facts about a run for workflow code. Most come with the start; memo, search attributes, parent
// and others are read from the encoded started event on access, by a scan of a few fields. Upserts
// are merged into them.
import type { InitializeWorkflow } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { type Payload, type PayloadConverter, upserted } from "../../converter/payload.ts";
import { TypedSearchAttributes } from "../../converter/search_attributes.ts";
import type { RunContext } from "../program/program.ts";
import type { Cancellation } from "./cancellation.ts";
import {
  type ExecutionRef,
  scanStarted,
  type StartedAttributes,
} from "../program/started_attributes.ts";

export type { ExecutionRef } from "../program/started_attributes.ts";

/** Facts about the run. Times in ms since the epoch, durations in ms; 0 if not set. */
export interface WorkflowInfo {
  readonly workflowType: string;
  readonly workflowId: string;
  /** Id of this run; it changes with continue-as-new. */
  readonly runId: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Attempt of the workflow's retry policy, from 1. */
  readonly attempt: number;
  readonly startTimeMs: number;
  /** The first run of the chain of continue-as-new and retries. */
  readonly firstExecutionRunId: string;
  /** The previous run that continued as this one; "" if none. */
  readonly continuedFromRunId: string;
  /** Limit for the whole chain of runs. */
  readonly executionTimeoutMs: number;
  /** Limit for this run. */
  readonly runTimeoutMs: number;
  /** Limit for one workflow task. */
  readonly taskTimeoutMs: number;
  /** Events in history at the current task. */
  readonly historyLength: number;
  /** Size of the history in bytes at the current task, as counted by the service. */
  readonly historySizeBytes: number;
  /** The service suggests to continue as new, because the history is long. */
  readonly continueAsNewSuggested: boolean;
  /** Reason of the requested cancellation (may be ""); undefined if not requested. */
  readonly cancelReason: string | undefined;
  /** The parent workflow; undefined if this is not a child. */
  readonly parent: ExecutionRef | undefined;
  /**
   * The root of the parent chain; undefined without a parent, or if the service does not report it.
   */
  readonly root: ExecutionRef | undefined;
  /** The cron schedule of the start; "" if none. */
  readonly cronSchedule: string;
  /** The current memo: that of the start with changes by upsertMemo, decoded. Read-only. */
  readonly memo: { readonly [key: string]: unknown };
  /**
   * The current search attributes: those of the start with changes by upsertSearchAttributes. Read
   * by key: `typedSearchAttributes.get(customer)`.
   */
  readonly typedSearchAttributes: TypedSearchAttributes;
  /** The same, decoded. Read-only. */
  readonly searchAttributes: { readonly [key: string]: unknown };
  /** The result of the previous run of a cron chain; undefined if none. */
  readonly lastResult: unknown;
  /** True during replay. For debugging only: workflow code must not depend on it. */
  readonly unsafeIsReplaying: boolean;
}

type PayloadRecord = { readonly [key: string]: Payload };
type Values = { readonly [key: string]: unknown };

interface Attributes extends
  Pick<
    StartedAttributes,
    "parent" | "root" | "cronSchedule" | "memo" | "searchAttributes" | "lastResult"
  > {
  /** Decoded once. */
  decodedMemo?: Values;
  decodedSearchAttributes?: Values;
}

/** Parts of the run that change from task to task, or are not in its start. */
export interface InfoSource {
  readonly context: RunContext;
  readonly converter: PayloadConverter;
  readonly cancellation: Cancellation | undefined;
  readonly historyLength: number;
  readonly historySizeBytes: number;
  readonly continueAsNewSuggested: boolean;
  readonly isReplaying: boolean;
}

export class RunInfo {
  readonly #run: InfoSource;
  readonly #start: InitializeWorkflow;
  /** Current values; undefined until read or changed. */
  #attributes: Attributes | undefined;
  #memoChanged = false;

  constructor(run: InfoSource, start: InitializeWorkflow) {
    this.#run = run;
    this.#start = start;
  }

  /** Merges the changes of a command. An empty payload removes its key. */
  merge(
    changes: { readonly memo?: PayloadRecord; readonly searchAttributes?: PayloadRecord },
  ): void {
    const { decodedMemo, decodedSearchAttributes, ...before } = this.#attributes ?? this.#ofStart();
    this.#memoChanged ||= changes.memo !== undefined;
    this.#attributes = {
      ...before,
      ...(changes.memo === undefined
        ? { decodedMemo }
        : { memo: upserted(before.memo, changes.memo) }),
      ...(changes.searchAttributes === undefined
        ? { decodedSearchAttributes }
        : { searchAttributes: upserted(before.searchAttributes, changes.searchAttributes) }),
    };
  }

  /**
   * The memo if upserts have changed it: the next run of continue-as-new gets it instead of the
   * start's.
   */
  get changedMemo(): PayloadRecord | undefined {
    return this.#memoChanged ? this.#attributes!.memo : undefined;
  }

  /** Values of the start, kept if unchanged. */
  #ofStart(): Attributes {
    const found = scanStarted(this.#start.startedAttributes);
    this.#attributes ??= found;
    return found;
  }

  /** Returns the current facts. Encoded values are decoded on access. */
  snapshot(): WorkflowInfo {
    const run = this.#run;
    const start = this.#start;
    // The values at the time of the call, even if read later.
    let attributes = this.#attributes;
    const { cancellation } = run;
    const scanned = () => attributes ??= this.#ofStart();
    const memo = () => scanned().decodedMemo ??= decodeRecord(run.converter, scanned().memo);
    const searchAttributes = () =>
      scanned().decodedSearchAttributes ??= decodeRecord(run.converter, scanned().searchAttributes);
    return Object.freeze({
      workflowType: start.workflowType,
      workflowId: start.workflowId,
      runId: start.runId,
      namespace: run.context.namespace,
      taskQueue: start.taskQueue,
      attempt: start.attempt,
      startTimeMs: start.startTimeMs,
      firstExecutionRunId: start.firstExecutionRunId,
      continuedFromRunId: start.continuedFromRunId,
      executionTimeoutMs: start.workflowExecutionTimeoutMs,
      runTimeoutMs: start.workflowRunTimeoutMs,
      taskTimeoutMs: start.workflowTaskTimeoutMs,
      historyLength: run.historyLength,
      historySizeBytes: run.historySizeBytes,
      continueAsNewSuggested: run.continueAsNewSuggested,
      unsafeIsReplaying: run.isReplaying,
      get cancelReason() {
        if (cancellation !== undefined) cancellation.told = true;
        return cancellation?.reason;
      },
      get parent() {
        return scanned().parent;
      },
      get root() {
        return scanned().root;
      },
      get cronSchedule() {
        return scanned().cronSchedule;
      },
      get memo() {
        return memo();
      },
      get typedSearchAttributes() {
        return TypedSearchAttributes.fromPayloads(scanned().searchAttributes);
      },
      get searchAttributes() {
        return searchAttributes();
      },
      get lastResult() {
        const payload = scanned().lastResult[0];
        return payload === undefined ? undefined : run.converter.fromPayload(payload);
      },
    });
  }
}

function decodeRecord(converter: PayloadConverter, payloads: PayloadRecord): Values {
  const values: { [key: string]: unknown } = {};
  for (const [key, payload] of Object.entries(payloads)) {
    values[key] = converter.fromPayload(payload);
  }
  return Object.freeze(values);
}
