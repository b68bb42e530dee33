// Replaces workflow code in a running worker. The new code is loaded into a separate realm, and
// every open run of the task queue is replayed with it; tasks use it only if all replays succeed.
// Meanwhile runs continue, and runs that advance are checked again in the next round. The last
// round happens in a pause of tasks, limited to PAUSE_MS because tasks are already dispatched. A
// run that the old code cannot replay either does not block the replacement.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { MessageCodec } from "../../codec/message_codec.ts";
import type { Logger } from "../../base/logger.ts";
import { Code, type RawService } from "../../service/raw.ts";
import { sleepOn, type Timers } from "../../base/timers.ts";
import { typedService } from "../../service/typed.ts";
import {
  ListWorkflowExecutionsRequestSchema,
  ListWorkflowExecutionsResponseSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { WorkflowExecutionStatus } from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { Realm, ReplayVerdict } from "../../realm/realm.ts";
import {
  type ChangedValue,
  type CompiledValueCheck,
  describeChangedValue,
  readValueCheck,
  type ValueCheck,
} from "../../realm/value_check.ts";
import { concat } from "../../messages/wire.ts";
import { fetchPage } from "./realms.ts";
import type { RunName } from "./recent_runs.ts";
import { hasCode, report } from "./reports.ts";
import type { WorkflowTasks } from "./workflow_tasks.ts";

/** Progress of a replacement of workflow code. */
export interface ReplacementProgress {
  /** "check": runs are replayed and continue; "switch": tasks wait for the last checks. */
  readonly phase: "load" | "check" | "switch";
  /** Replayed runs of this round. */
  readonly checked: number;
  /** Runs to check in this round. */
  readonly total: number;
}

/** Options of `worker.replaceWorkflows`. */
export interface ReplacementOptions {
  /** Called during the check. Must not throw. */
  onProgress?(progress: ReplacementProgress): void;
  /** Aborts the replacement; the old code stays in use. */
  signal?: AbortSignal;
  /**
   * Compares values as well: arguments, results, durations, options, memos, search attributes.
   * "warn" lists open runs whose values change in the result; "error" rejects such code. Default:
   * values are not compared.
   */
  values?: ValueCheck;
}

/** An open run that the new code replays with other values than the history has. */
export interface ReplacementChange {
  readonly workflowType: string;
  readonly workflowId: string;
  readonly runId: string;
  /** Commands whose values differ, in the order of the history. */
  readonly changedValues: readonly ChangedValue[];
}

/** An open run that the new code cannot replay. */
export interface ReplacementProblem {
  readonly workflowType: string;
  readonly workflowId: string;
  readonly runId: string;
  /**
   * "nondeterminism": the code does not match the history. "failed": it throws, does not yield, or
   * the type is missing. "changed": it has other values, and the option `values` is "error".
   */
  readonly verdict: "nondeterminism" | "failed" | "changed";
  /**
   * Description of the problem. With `encodeCommonAttributes`, an error of workflow code is its
   * type name.
   */
  readonly message: string;
  /** Id of the history event; 0 if unknown. */
  readonly eventId: number;
  /** Type of that event; "" if unknown. */
  readonly eventType: string;
  /** What the history records. */
  readonly expected: string;
  /** What the code does instead. */
  readonly actual: string;
  /** Line of workflow code: "function (file:line:column)"; "" if unknown. */
  readonly location: string;
}

/** Result of a replacement of workflow code. */
export interface Replacement {
  /** Number of successful replays. */
  readonly checkedRuns: number;
  /** Workflow types of the new code. */
  readonly workflowTypes: readonly string[];
  /** Runs that neither the old nor the new code can replay. */
  readonly broken: readonly ReplacementProblem[];
  /** With the option `values`: the first 100 open runs whose values change. */
  readonly changed: readonly ReplacementChange[];
  /** How long tasks waited, in ms. */
  readonly pausedMs: number;
}

/** The new workflow code breaks the replay of open runs; the old code stays in use. */
export class WorkflowReplacementError extends Error {
  override name = "WorkflowReplacementError";
  /** The first problems; the check ends after MAX_PROBLEMS. */
  readonly problems: readonly ReplacementProblem[];

  constructor(problems: readonly ReplacementProblem[]) {
    const runs = problems.length === 1
      ? "an open run"
      : `${problems.length}${problems.length < MAX_PROBLEMS ? "" : " or more"} open runs`;
    const isOnlyValues = problems.every(({ verdict }) => verdict === "changed");
    const what = isOnlyValues
      ? `the new workflow code changes values of ${runs}; the old code stays in use`
      : `the new workflow code breaks the replay of ${runs}; the old code stays in use`;
    super(`${what}:\n${problems.map(describeProblem).join("\n")}\n${adviceFor(problems)}`);
    this.problems = problems;
  }
}

function adviceFor(problems: readonly ReplacementProblem[]): string {
  if (
    problems.every(({ message }) =>
      /is not known to this worker|no such function is exported by the workflow bundle/.test(
        message,
      )
    )
  ) {
    return "Export a workflow type until its last run is closed: restore it, or let these runs finish first";
  }
  if (problems.every(({ verdict }) => verdict === "changed")) {
    return "Keep the values of these runs behind patched(), or leave them out with a rule (ignore)";
  }
  // Code that throws or loops does not take another path, so a patch does not help.
  if (problems.every(({ verdict }) => verdict === "failed")) {
    return "Fix the code at these lines: it throws where the run continued, so workflow tasks would fail and be retried";
  }
  return "Keep the commands of these runs behind patched(), or let the runs finish first";
}

/** Returns two to four lines of text. */
export function describeProblem(problem: ReplacementProblem): string {
  const {
    workflowType,
    workflowId,
    runId,
    eventId,
    eventType,
    message,
    expected,
    actual,
    location,
  } = problem;
  const event = eventId === 0
    ? ""
    : `, event ${eventId}${eventType === "" ? "" : ` (${eventType})`}`;
  return [
    `  ${workflowType} "${workflowId}" (run ${runId})${event}${
      location === "" ? "" : ` at ${location}`
    }:`,
    ...(expected === "" && actual === ""
      ? message.split("\n").map((line) => `    ${line}`)
      : [`    history: ${expected}`, `    code:    ${actual}`]),
  ].join("\n");
}

/** Returns two or more lines of text for each run. */
export function describeChange(
  { workflowType, workflowId, runId, changedValues }: ReplacementChange,
): string {
  const lines = changedValues.flatMap((value) => describeChangedValue(value).split("\n"));
  const head = `  ${workflowType} "${workflowId}" (run ${runId}):`;
  return [head, ...lines.map((line) => `    ${line}`)].join("\n");
}

const MAX_PROBLEMS = 10;
/** Runs with changed values that a result lists. */
const MAX_CHANGES = 100;
const PAGE_SIZE = 200;
/** Concurrent history requests. */
const FETCHES = 4;
/** A pause is tried when at most FEW runs remain to check, or after MAX_ROUNDS rounds. */
const FEW = 20;
const MAX_ROUNDS = 5;
const MAX_PAUSES = 5;
/** Limit of a pause, in ms. The service times tasks out after ten seconds. */
const PAUSE_MS = 3000;

export interface ReplacementParts {
  readonly service: RawService;
  readonly codec: MessageCodec | undefined;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly tasks: WorkflowTasks;
}

/**
 * Checks `next` against the open runs, and switches tasks to it. Rejects without changes if a
 * replay fails.
 */
export async function replaceRealm(
  parts: ReplacementParts,
  next: Realm,
  options: ReplacementOptions,
): Promise<Replacement> {
  const { tasks, timers } = parts;
  const { signal } = options;
  const check = new Check(parts, next, tasks.realm, options);
  // Taken before the list is read: a run that advances after its history was fetched is in the next
  // round.
  let left = tasks.recentRuns.take();
  await check.round(unite(await openRuns(parts, signal), left));
  left = tasks.recentRuns.take();
  for (let round = 1; round < MAX_ROUNDS && left.length > FEW; round++) {
    await check.round(left);
    left = tasks.recentRuns.take();
  }
  for (let attempt = 1;; attempt++) {
    signal?.throwIfAborted();
    const resume = tasks.pause();
    const since = timers.now();
    const late = new AbortController();
    const limit = timers.after(PAUSE_MS, () => late.abort(TOO_LATE));
    try {
      await within(tasks.idle(), late.signal, signal);
      left = unite(left, tasks.recentRuns.take());
      await within(check.round(left, late.signal), late.signal, signal);
      tasks.replaceRealm(next);
      const { checked: checkedRuns, broken, changed } = check;
      return {
        checkedRuns,
        broken,
        changed: [...changed.values()],
        workflowTypes: next.workflowTypes,
        pausedMs: Math.round(timers.now() - since),
      };
    } catch (error) {
      if (error !== TOO_LATE) throw error;
      if (attempt === MAX_PAUSES) {
        throw new Error(
          `the worker is too busy to replace its workflow code: ${left.length} runs made progress during the check, ` +
            "and checking them again took too long; retry when the load is lower",
        );
      }
    } finally {
      limit();
      resume();
    }
    // The rest is checked while tasks continue.
    await sleepOn(timers, 50 * attempt, signal);
    await check.round(unite(left, tasks.recentRuns.take()));
    left = tasks.recentRuns.take();
  }
}

const TOO_LATE = new Error("the pause took too long");

function unite(a: readonly RunName[], b: readonly RunName[]): RunName[] {
  return [...new Map([...a, ...b].map((run) => [run.runId, run])).values()];
}

/** Returns the promise's result, or rejects when a signal is aborted first. */
async function within<T>(promise: Promise<T>, ...signals: (AbortSignal | undefined)[]): Promise<T> {
  promise.catch(() => {});
  const given = signals.filter((signal) => signal !== undefined);
  let cancel = () => {};
  const aborted = new Promise<never>((_, reject) => {
    const listeners = given.map((signal) => [signal, () => reject(signal.reason)] as const);
    for (const [signal, listener] of listeners) {
      if (signal.aborted) listener();
      else signal.addEventListener("abort", listener);
    }
    cancel = () =>
      listeners.forEach(([signal, listener]) => signal.removeEventListener("abort", listener));
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    cancel();
  }
}

/** Names of all open runs of the task queue. */
async function openRuns(
  parts: ReplacementParts,
  signal: AbortSignal | undefined,
): Promise<RunName[]> {
  const { namespace, taskQueue } = parts;
  const query = `TaskQueue = "${
    taskQueue.replace(/[\\"]/g, "\\$&")
  }" AND ExecutionStatus = "Running"`;
  const runs: RunName[] = [];
  let nextPageToken: Uint8Array = new Uint8Array(0);
  do {
    signal?.throwIfAborted();
    const request = create(ListWorkflowExecutionsRequestSchema, {
      namespace,
      query,
      pageSize: PAGE_SIZE,
      nextPageToken,
    });
    const response = await report(
      parts,
      "listWorkflowExecutions",
      toBinary(ListWorkflowExecutionsRequestSchema, request),
    );
    const page = fromBinary(ListWorkflowExecutionsResponseSchema, response);
    for (const { execution, type } of page.executions) {
      // Held runs may crash the process, in a check too.
      if (parts.tasks.holds(execution!.runId)) continue;
      runs.push({
        workflowId: execution!.workflowId,
        runId: execution!.runId,
        workflowType: type?.name ?? "",
      });
    }
    nextPageToken = page.nextPageToken;
  } while (nextPageToken.length > 0);
  return runs;
}

class Check {
  checked = 0;
  readonly broken: ReplacementProblem[] = [];
  /** By run id: a run that moves is checked again. */
  readonly changed = new Map<string, ReplacementChange>();
  readonly #values: CompiledValueCheck | undefined;
  readonly #parts: ReplacementParts;
  readonly #next: Realm;
  readonly #old: Realm;
  readonly #options: ReplacementOptions;

  constructor(parts: ReplacementParts, next: Realm, old: Realm, options: ReplacementOptions) {
    this.#parts = parts;
    this.#next = next;
    this.#old = old;
    this.#options = options;
    this.#values = readValueCheck(options.values, "values");
  }

  /** Checks runs; throws if a replay fails. `pause` is aborted when its pause lasts too long. */
  async round(runs: readonly RunName[], pause?: AbortSignal): Promise<void> {
    const phase = pause === undefined ? "check" : "switch";
    const problems: ReplacementProblem[] = [];
    let at = 0;
    let done = 0;
    const say = () => this.#options.onProgress?.({ phase, checked: done, total: runs.length });
    say();
    const work = async () => {
      while (at < runs.length && problems.length < MAX_PROBLEMS) {
        pause?.throwIfAborted();
        this.#options.signal?.throwIfAborted();
        const problem = await this.#run(runs[at++]!);
        if (problem !== undefined) problems.push(problem);
        done++;
        say();
      }
    };
    await Promise.all(Array.from({ length: Math.min(FETCHES, runs.length) }, work));
    if (problems.length > 0) throw new WorkflowReplacementError(problems.slice(0, MAX_PROBLEMS));
  }

  async #run(run: RunName): Promise<ReplacementProblem | undefined> {
    let history: Uint8Array;
    try {
      history = await this.#history(run);
    } catch (error) {
      // Closed and purged meanwhile.
      if (hasCode(error, Code.NOT_FOUND)) return undefined;
      throw error;
    }
    const values = this.#values;
    const verdict = await this.#next.replay(
      run.workflowId,
      history,
      values === undefined ? {} : { values: values.comparison },
    );
    if (verdict.verdict === "ok") {
      const changes = this.#changedValues(run, verdict);
      if (changes === undefined || !values!.isFatal || await this.#closed(run)) {
        this.checked++;
        return undefined;
      }
      return changeProblem(changes);
    }
    if (await this.#closed(run)) return undefined;
    const problem = problemOf(run, verdict, this.#parts.codec?.hidesText === true);
    const before = await this.#old.replay(run.workflowId, history);
    if (before.verdict === "ok") return problem;
    if (!this.broken.some(({ runId }) => runId === run.runId)) this.broken.push(problem);
    return undefined;
  }

  #changedValues(run: RunName, { changedValues }: ReplayVerdict): ReplacementChange | undefined {
    if (changedValues === undefined || changedValues.length === 0) return undefined;
    const change = { ...run, changedValues };
    if (this.changed.size < MAX_CHANGES || this.changed.has(run.runId)) {
      this.changed.set(run.runId, change);
    }
    return change;
  }

  async #history({ workflowId, runId }: RunName): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    let token: Uint8Array = new Uint8Array(0);
    do {
      const page = await fetchPage(this.#parts, workflowId, runId, token);
      parts.push(page.history);
      token = page.nextPageToken;
    } while (token.length > 0);
    return concat(parts);
  }

  /** Whether the run closed since it was listed; no code has to replay it then. */
  async #closed({ workflowId, runId }: RunName): Promise<boolean> {
    const { service, namespace } = this.#parts;
    try {
      const description = await typedService(service).describeWorkflowExecution({
        namespace,
        execution: { workflowId, runId },
      });
      return description.workflowExecutionInfo?.status !== WorkflowExecutionStatus.RUNNING;
    } catch (error) {
      if (hasCode(error, Code.NOT_FOUND)) return true;
      throw error;
    }
  }
}

/** Errors with text of the core or the worker. All others quote workflow code. */
const OWN_TEXT: ReadonlySet<string> = new Set([
  "NondeterminismError",
  "FatalCoreError",
  "UnsupportedHistoryError",
  "UnknownWorkflowError",
]);

/**
 * Returns the message of a replay's error for logs. With `hidesText`, an error of workflow code is
 * its type name.
 */
export function replayMessage({ error }: ReplayVerdict, hidesText: boolean): string {
  if (error === undefined || !hidesText || error.lost !== undefined || OWN_TEXT.has(error.name)) {
    return error?.message ?? "";
  }
  return `the code threw a ${error.name} (its message is hidden: encodeCommonAttributes is on)`;
}

function changeProblem({ changedValues, ...run }: ReplacementChange): ReplacementProblem {
  const [first] = changedValues;
  return {
    ...run,
    verdict: "changed",
    message: changedValues.map(describeChangedValue).join("\n"),
    eventId: first!.eventId,
    ...{ eventType: "", expected: "", actual: "", location: first!.site },
  };
}

function problemOf(
  { workflowId, runId, workflowType }: RunName,
  replayed: ReplayVerdict,
  hidesText: boolean,
): ReplacementProblem {
  const { verdict, error } = replayed;
  const message = replayMessage(replayed, hidesText);
  const { eventId = 0, eventType = "", expected = "", actual = "", location = "" } = error ?? {};
  return {
    ...{ workflowType, workflowId, runId, message, eventId, eventType, expected, actual, location },
    verdict: verdict === "nondeterminism" ? verdict : "failed",
  };
}
