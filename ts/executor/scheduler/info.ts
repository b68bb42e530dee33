// What a workflow may know about itself. Most of it comes with the start; memo, search attributes, parent and the like are read from the
// encoded attributes of the started event when somebody asks, by a scan of the few fields that are shown. What upserts change is merged into
// that.
import {
  MapEntry,
  Memo,
  Payloads,
  SearchAttributes,
  WorkflowExecution,
  WorkflowExecutionStartedEventAttributes as Started,
} from "../../api/generated/fields.ts";
import { Fields } from "../../api/wire.ts";
import { Payload as PayloadCodec } from "../../core/generated/boundary/temporal/api/common/v1/message.ts";
import type { InitializeWorkflow } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { type Payload, type PayloadConverter, upserted } from "../../converter/payload.ts";
import { TypedSearchAttributes } from "../../converter/search_attributes.ts";
import type { RunContext } from "../program/program.ts";
import type { Cancellation } from "./cancellation.ts";

/** A workflow execution by its two ids. */
export interface ExecutionRef {
  /** Id of the workflow. */
  readonly workflowId: string;
  /** Id of the run. */
  readonly runId: string;
}

/** Facts about the run. Times: milliseconds since the epoch; durations: milliseconds, 0 when unset. */
export interface WorkflowInfo {
  /** Name of the workflow type. */
  readonly workflowType: string;
  /** The id that the start chose. */
  readonly workflowId: string;
  /** The id of this run; another one after continue-as-new. */
  readonly runId: string;
  /** The namespace in which it runs. */
  readonly namespace: string;
  /** The queue of its workflow tasks. */
  readonly taskQueue: string;
  /** Which attempt of the workflow's retry policy this run is, from 1. */
  readonly attempt: number;
  /** When this run was started. */
  readonly startTimeMs: number;
  /** The first run of the chain that continue-as-new and retries make. */
  readonly firstExecutionRunId: string;
  /** The run that continued as this one; empty for none. */
  readonly continuedFromRunId: string;
  /** Limit for the whole chain of runs. */
  readonly executionTimeoutMs: number;
  /** Limit for this run. */
  readonly runTimeoutMs: number;
  /** Limit for one workflow task. */
  readonly taskTimeoutMs: number;
  /** Events in history at the task that is being processed. */
  readonly historyLength: number;
  /** Size of the history in bytes at that task, as the service counts it. */
  readonly historySizeBytes: number;
  /** The server (or engine) finds the history long enough to continue as new. */
  readonly continueAsNewSuggested: boolean;
  /** A cancellation was requested, with this reason (it may be empty). */
  readonly cancelReason: string | undefined;
  /** The workflow that started this one as its child, if one did. */
  readonly parent: ExecutionRef | undefined;
  /** The first in the line of parents; undefined for a workflow without a parent, and where the service does not say. */
  readonly root: ExecutionRef | undefined;
  /** The cron schedule that it was started with; empty for none. */
  readonly cronSchedule: string;
  /** Its memo as it is now: that of the start with what upsertMemo changed, decoded. Read-only. */
  readonly memo: { readonly [key: string]: unknown };
  /**
   * Its search attributes as they are now: those of the start with what upsertSearchAttributes changed. To be asked for by key:
   * `typedSearchAttributes.get(customer)`.
   */
  readonly typedSearchAttributes: TypedSearchAttributes;
  /** The same, decoded. Read-only. */
  readonly searchAttributes: { readonly [key: string]: unknown };
  /** The result of the previous run of a cron chain, if any. */
  readonly lastResult: unknown;
  /** True while the code runs again from history. For debugging only: a workflow must not behave differently. */
  readonly unsafeIsReplaying: boolean;
}

type PayloadRecord = { readonly [key: string]: Payload };
type Values = { readonly [key: string]: unknown };

interface Attributes {
  readonly parent: ExecutionRef | undefined;
  readonly root: ExecutionRef | undefined;
  readonly cronSchedule: string;
  readonly memo: PayloadRecord;
  readonly searchAttributes: PayloadRecord;
  readonly lastResult: readonly Payload[];
  /** Decoded once. */
  decodedMemo?: Values;
  decodedSearchAttributes?: Values;
}

/** What of the run changes from task to task, or is not in its start. */
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
  /** As they are now; undefined before anybody asked and anything changed. */
  #attributes: Attributes | undefined;
  #memoChanged = false;

  constructor(run: InfoSource, start: InitializeWorkflow) {
    this.#run = run;
    this.#start = start;
  }

  /** Merges what a command of the run changes. A payload of nothing removes its key. */
  merge(changes: { readonly memo?: PayloadRecord; readonly searchAttributes?: PayloadRecord }): void {
    const { decodedMemo, decodedSearchAttributes, ...before } = this.#attributes ?? this.#ofStart();
    this.#memoChanged ||= changes.memo !== undefined;
    this.#attributes = {
      ...before,
      ...(changes.memo === undefined ? { decodedMemo } : { memo: upserted(before.memo, changes.memo) }),
      ...(changes.searchAttributes === undefined
        ? { decodedSearchAttributes }
        : { searchAttributes: upserted(before.searchAttributes, changes.searchAttributes) }),
    };
  }

  /** The memo, where upserts have changed it: the next run of a continue-as-new gets it instead of the start's. */
  get changedMemo(): PayloadRecord | undefined {
    return this.#memoChanged ? this.#attributes!.memo : undefined;
  }

  /** Those of the start, remembered if nothing has changed since. */
  #ofStart(): Attributes {
    const found = scan(this.#start.startedAttributes);
    this.#attributes ??= found;
    return found;
  }

  /** The facts as they are now. What has to be decoded is decoded when it is read. */
  snapshot(): WorkflowInfo {
    const run = this.#run;
    const start = this.#start;
    // As they are at the call, though they are looked at later.
    let attributes = this.#attributes;
    const { cancellation } = run;
    const scanned = () => attributes ??= this.#ofStart();
    const memo = () => scanned().decodedMemo ??= decodeRecord(run.converter, scanned().memo);
    const searchAttributes = () => scanned().decodedSearchAttributes ??= decodeRecord(run.converter, scanned().searchAttributes);
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
  for (const [key, payload] of Object.entries(payloads)) values[key] = converter.fromPayload(payload);
  return Object.freeze(values);
}

/** The fields of WorkflowExecutionStartedEventAttributes that are shown. */
function scan(bytes: Uint8Array): Attributes {
  const found = {
    parent: undefined as ExecutionRef | undefined,
    root: undefined as ExecutionRef | undefined,
    cronSchedule: "",
    memo: {} as { [key: string]: Payload },
    searchAttributes: {} as { [key: string]: Payload },
    lastResult: [] as Payload[],
  };
  for (const at = new Fields(bytes); at.next();) {
    switch (at.tag) {
      case Started.parentWorkflowExecution:
        found.parent = execution(at.inner());
        break;
      case Started.rootWorkflowExecution:
        found.root = execution(at.inner());
        break;
      case Started.lastCompletionResult:
        for (const of = at.inner(); of.next();) {
          if (of.tag === Payloads.payloads) found.lastResult.push(PayloadCodec.decode(of.bytes()));
        }
        break;
      case Started.cronSchedule:
        found.cronSchedule = at.text();
        break;
      case Started.memo:
        record(found.memo, at.inner(), Memo.fields);
        break;
      case Started.searchAttributes:
        record(found.searchAttributes, at.inner(), SearchAttributes.indexedFields);
        break;
    }
  }
  return found;
}

function execution(at: Fields): ExecutionRef {
  let [workflowId, runId] = ["", ""];
  while (at.next()) {
    if (at.tag === WorkflowExecution.workflowId) workflowId = at.text();
    else if (at.tag === WorkflowExecution.runId) runId = at.text();
  }
  return { workflowId, runId };
}

/** The payloads of a map, which is in the field `entries`. */
function record(into: { [key: string]: Payload }, at: Fields, entries: number): void {
  while (at.next()) {
    if (at.tag !== entries) continue;
    let key = "";
    for (const of = at.inner(); of.next();) {
      if (of.tag === MapEntry.key) key = of.text();
      else if (of.tag === MapEntry.value) into[key] = PayloadCodec.decode(of.bytes());
    }
  }
}
