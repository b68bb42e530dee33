// New workflow code for a running worker. The code is loaded into a realm of its own and every open run of the task queue is replayed
// against it; only when all of them agree do tasks go there. Until then, and after a refusal, the old code serves.
//
// Runs go on while they are being checked. What was checked stays true, because a history only grows, but a task that the old code completes
// meanwhile is not covered. So the runs that this worker has moved during a round are checked in the next one, and the last round happens
// while tasks wait: none is in work, so none moves. Tasks wait rather than polls, because a poll that is taken back may lose its task to the
// network; they were handed out already, so the wait is kept well below the time that a service gives a task (ten seconds). A pause that
// takes too long is ended, and another round prepares a shorter one.
//
// A run that the old code cannot replay either is no reason to refuse: the new code makes nothing worse, and may be its cure.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { MessageCodec } from "../codec/message_codec.ts";
import type { Logger } from "../base/logger.ts";
import { Code, type RawService } from "../service/raw.ts";
import { sleepOn, type Timers } from "../base/timers.ts";
import { typedService } from "../service/typed.ts";
import {
  ListWorkflowExecutionsRequestSchema,
  ListWorkflowExecutionsResponseSchema,
} from "../api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { WorkflowExecutionStatus } from "../api/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { Realm, ReplayVerdict } from "../realm/realm.ts";
import { concat } from "../api/wire.ts";
import { fetchPage } from "./realms.ts";
import type { RunName } from "./recent_runs.ts";
import { hasCode, report } from "./reports.ts";
import type { WorkflowTasks } from "./workflow_tasks.ts";

/** How far a replacement of workflow code is. */
export interface ReplacementProgress {
  /** "check": runs are replayed and go on; "switch": tasks wait until the last of them are checked. */
  readonly phase: "load" | "check" | "switch";
  /** Runs of this round that have been replayed. */
  readonly checked: number;
  /** Runs to check in this round. */
  readonly total: number;
}

/** Options of `worker.replaceWorkflows`. */
export interface ReplacementOptions {
  /** Called as the check goes on. Must not throw. */
  onProgress?(progress: ReplacementProgress): void;
  /** Aborts; the old code stays in use. */
  signal?: AbortSignal;
}

/** An open run that the new code does not replay. */
export interface ReplacementProblem {
  /** Type of the workflow. */
  readonly workflowType: string;
  /** Id of the workflow. */
  readonly workflowId: string;
  /** The open run. */
  readonly runId: string;
  /** "nondeterminism": the code makes other commands than the history records. "failed": it throws, spins, or the type is gone. */
  readonly verdict: "nondeterminism" | "failed";
  /** What is wrong, for people. With `encodeCommonAttributes`, an error of workflow code is named by its type. */
  readonly message: string;
  /** Where in the history; 0 and "" when not known. */
  readonly eventId: number;
  /** Type of that event. */
  readonly eventType: string;
  /** What the history records, and what the code does. */
  readonly expected: string;
  /** What the code does instead. */
  readonly actual: string;
  /** The line of workflow code: "function (file:line:column)"; "" when not known. */
  readonly location: string;
}

/** What a replacement of workflow code came to. */
export interface Replacement {
  /** Replays that agreed. */
  readonly checkedRuns: number;
  /** The types that the new code has. */
  readonly workflowTypes: readonly string[];
  /** Runs that neither the old code nor the new one replays. */
  readonly broken: readonly ReplacementProblem[];
  /** How long tasks had to wait. */
  readonly pausedMs: number;
}

/** The new workflow code does not fit runs that are open, and was not taken. */
export class WorkflowReplacementError extends Error {
  override name = "WorkflowReplacementError";
  /** The first ones; the check ends when it has found MAX_PROBLEMS. */
  readonly problems: readonly ReplacementProblem[];

  constructor(problems: readonly ReplacementProblem[]) {
    const runs = problems.length === 1
      ? "an open run"
      : `${problems.length}${problems.length < MAX_PROBLEMS ? "" : " or more"} open runs`;
    super(
      `the new workflow code breaks the replay of ${runs}; the old code stays in use:\n${
        problems.map(describeProblem).join("\n")
      }\n` +
        adviceFor(problems),
    );
    this.problems = problems;
  }
}

function adviceFor(problems: readonly ReplacementProblem[]): string {
  if (
    problems.every(({ message }) =>
      /is not known to this worker|no such function is exported by the workflow bundle/.test(message)
    )
  ) {
    return "Export a workflow type until its last run is closed: restore it, or let these runs finish first";
  }
  // Code that throws or does not end is no other way through a history, so a patch is no help.
  if (problems.every(({ verdict }) => verdict === "failed")) {
    return "Fix the code at these lines: it throws where the run continued, so workflow tasks would fail and be retried";
  }
  return "Keep the commands of these runs behind patched(), or let the runs finish first";
}

/** Two to four lines for people. */
export function describeProblem(problem: ReplacementProblem): string {
  const { workflowType, workflowId, runId, eventId, eventType, message, expected, actual, location } = problem;
  const event = eventId === 0 ? "" : `, event ${eventId}${eventType === "" ? "" : ` (${eventType})`}`;
  return [
    `  ${workflowType} "${workflowId}" (run ${runId})${event}${location === "" ? "" : ` at ${location}`}:`,
    ...(expected === "" && actual === "" ? [`    ${message}`] : [`    history: ${expected}`, `    code:    ${actual}`]),
  ].join("\n");
}

const MAX_PROBLEMS = 10;
const PAGE_SIZE = 200;
/** Histories that are fetched at once. */
const FETCHES = 4;
/** A pause is tried when so few runs are left to check, or after so many rounds. */
const FEW = 20;
const MAX_ROUNDS = 5;
const MAX_PAUSES = 5;
/** A pause that takes longer is ended. A task is timed out by the service after ten seconds, and may have been under way for a while. */
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

/** Checks `next` against the open runs and switches the tasks over to it. Rejects, and changes nothing, when a run does not agree. */
export async function replaceRealm(parts: ReplacementParts, next: Realm, options: ReplacementOptions): Promise<Replacement> {
  const { tasks, timers } = parts;
  const { signal } = options;
  const check = new Check(parts, next, tasks.realm, options);
  // Taken before the list is read: a run that moves after its history was fetched is in the next round.
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
      const { checked: checkedRuns, broken } = check;
      return { checkedRuns, broken, workflowTypes: next.workflowTypes, pausedMs: Math.round(timers.now() - since) };
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
    // What could not be done while tasks waited is done while they go on.
    await sleepOn(timers, 50 * attempt, signal);
    await check.round(unite(left, tasks.recentRuns.take()));
    left = tasks.recentRuns.take();
  }
}

const TOO_LATE = new Error("the pause took too long");

function unite(a: readonly RunName[], b: readonly RunName[]): RunName[] {
  return [...new Map([...a, ...b].map((run) => [run.runId, run])).values()];
}

/** The promise's outcome, unless a signal is aborted first. */
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
    cancel = () => listeners.forEach(([signal, listener]) => signal.removeEventListener("abort", listener));
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    cancel();
  }
}

/** Names of all open runs of the task queue. */
async function openRuns(parts: ReplacementParts, signal: AbortSignal | undefined): Promise<RunName[]> {
  const { namespace, taskQueue } = parts;
  const query = `TaskQueue = "${taskQueue.replace(/[\\"]/g, "\\$&")}" AND ExecutionStatus = "Running"`;
  const runs: RunName[] = [];
  let nextPageToken: Uint8Array = new Uint8Array(0);
  do {
    signal?.throwIfAborted();
    const request = create(ListWorkflowExecutionsRequestSchema, { namespace, query, pageSize: PAGE_SIZE, nextPageToken });
    const response = await report(parts, "listWorkflowExecutions", toBinary(ListWorkflowExecutionsRequestSchema, request));
    const page = fromBinary(ListWorkflowExecutionsResponseSchema, response);
    for (const { execution, type } of page.executions) {
      // Its code may end the process, in a check, too.
      if (parts.tasks.holds(execution!.runId)) continue;
      runs.push({ workflowId: execution!.workflowId, runId: execution!.runId, workflowType: type?.name ?? "" });
    }
    nextPageToken = page.nextPageToken;
  } while (nextPageToken.length > 0);
  return runs;
}

class Check {
  checked = 0;
  readonly broken: ReplacementProblem[] = [];
  readonly #parts: ReplacementParts;
  readonly #next: Realm;
  readonly #old: Realm;
  readonly #options: ReplacementOptions;

  constructor(parts: ReplacementParts, next: Realm, old: Realm, options: ReplacementOptions) {
    this.#parts = parts;
    this.#next = next;
    this.#old = old;
    this.#options = options;
  }

  /** Checks these runs; throws when one does not agree. `pause` is aborted when the pause in which this happens has lasted too long. */
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
      // Closed and purged since.
      if (hasCode(error, Code.NOT_FOUND)) return undefined;
      throw error;
    }
    const verdict = await this.#next.replay(run.workflowId, history);
    if (verdict.verdict === "ok") {
      this.checked++;
      return undefined;
    }
    if (await this.#closed(run)) return undefined;
    const problem = problemOf(run, verdict, this.#parts.codec?.hidesText === true);
    const before = await this.#old.replay(run.workflowId, history);
    if (before.verdict === "ok") return problem;
    if (!this.broken.some(({ runId }) => runId === run.runId)) this.broken.push(problem);
    return undefined;
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

  /** It may have closed since it was listed: then no code matters to it any more. */
  async #closed({ workflowId, runId }: RunName): Promise<boolean> {
    const { service, namespace } = this.#parts;
    try {
      const description = await typedService(service).describeWorkflowExecution({ namespace, execution: { workflowId, runId } });
      return description.workflowExecutionInfo?.status !== WorkflowExecutionStatus.RUNNING;
    } catch (error) {
      if (hasCode(error, Code.NOT_FOUND)) return true;
      throw error;
    }
  }
}

/** Errors whose text is the core's or the worker's own. All others quote workflow code. */
const OWN_TEXT: ReadonlySet<string> = new Set([
  "NondeterminismError",
  "FatalCoreError",
  "UnsupportedHistoryError",
  "UnknownWorkflowError",
]);

/** Returns the message of a replay's error for logs. With `hidesText`, what workflow code threw is named by its type. */
export function replayMessage({ error }: ReplayVerdict, hidesText: boolean): string {
  if (error === undefined || !hidesText || error.lost !== undefined || OWN_TEXT.has(error.name)) return error?.message ?? "";
  return `the code threw a ${error.name} (its message is hidden: encodeCommonAttributes is on)`;
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
