// Replays of histories without reports: verdicts for the replay command, determinism tests and the
// debugger.
import {
  type CommandKind,
  type CoreError,
  type CoreWarning,
  ErrorKind,
  type TaskOutcome,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { PayloadConverterError } from "../../converter/lossy_value.ts";
import { stackFrames } from "../../converter/stack.ts";
import { isA, messageOf, nameOf, stackOf } from "../../converter/thrown.ts";
import { CoreError as ThrownCoreError, toCoreError } from "../../core/errors.ts";
import { CachedRun, type FetchHistory, type RunIdentity, type RunSetup } from "./cached_run.ts";
import type { ChangedValue, Divergence, UncomparedValue, ValueComparison } from "./divergence.ts";
import { userFrame, userStack } from "../program/call_site.ts";
import { UnknownWorkflowError } from "../program/errors.ts";
import type { Followed, LineAt } from "./line_follower.ts";
import { lineTracing } from "./line_tracing.ts";
import { definitionSites, type MessageSite } from "../program/definition_sites.ts";
import type { FailedBranch, FailedHandler, MissedPatch, RecordedActivation } from "./recording.ts";
import { type ReplayTrace, ReplayTracer } from "./replay_trace.ts";
import { readRunStart } from "../../messages/history_start.ts";

/** Options of a replay. */
export interface ReplayOptions {
  /** Extra commands and swapped update ids fail the replay instead of causing warnings. */
  readonly strict?: boolean;
  /** Keeps the commands of every activation. */
  readonly record?: boolean;
  /** Also records waits, published states and logs of the run, task by task. Requires `record`. */
  readonly trace?: boolean;
  /**
   * With `trace`: also records executed lines and variables, if the realm has probed code (option
   * `lines` of the realm). Jobs and commands are the same.
   */
  readonly lines?: boolean;
  /** With `lines`: also the order of execution in the task that started at this event. */
  readonly pathOf?: number;
  /**
   * @internal With `trace`: reports lines before they run, if the realm has probed code, to find
   * endless code.
   */
  readonly follow?: Followed;
  /**
   * When call sites are recorded: never, always, or in a second replay after a divergence
   * (default).
   */
  readonly callSites?: "never" | "onFailure" | "always";
  /** Explains a divergence, which takes more replays. Default: true if call sites are recorded. */
  readonly explain?: boolean;
  /**
   * @internal An explanation has a repair in the lines of the code, whose replay takes a realm.
   * Default: true.
   */
  readonly repairs?: boolean;
  /** Overrides the run id of the history's first event. */
  readonly runId?: string;
  /**
   * Compares values that no replay compares (arguments, results, durations, options, search
   * attributes, memos) with the history. The verdict does not depend on them. Default: false.
   */
  readonly values?: boolean | ValueComparison;
}

/** Records of a failed replay, from which a divergence is explained (debug/divergence). */
export interface ReplayEvidence {
  readonly activations: readonly RecordedActivation[];
  /** Waits of the code, by activation. */
  readonly waits: ReplayTrace["waits"];
  readonly jobs: ReplayTrace["jobs"];
  readonly missedPatches: readonly MissedPatch[];
  readonly failedBranches: readonly FailedBranch[];
  readonly failedHandlers: readonly FailedHandler[];
  readonly handlers: readonly MessageSite[];
  /** Messages that the modules define. */
  readonly definitions: readonly MessageSite[];
  /** Number of signals that the code has not taken, by name. */
  readonly untaken: Readonly<Record<string, number>>;
}

export interface ReplayError {
  /** Class of the error: "NondeterminismError", "FatalCoreError", "DeadlockError", ... */
  readonly name: string;
  /** Stable number in the core's error table; 0 for other errors of workflow code. */
  readonly code: number;
  readonly message: string;
  /** Id of the history event; 0 if unknown. */
  readonly eventId: number;
  readonly eventType: string;
  readonly expected: string;
  readonly actual: string;
  /** The user's line: "function (file:line:column)"; "" if unknown. */
  readonly location: string;
  readonly commandKind: CommandKind;
  readonly seq: number;
  readonly diffs: CoreError["diffs"];
  /** The error thrown by workflow code; absent for errors of the core. */
  readonly thrown?: unknown;
  /** User frames of that error, nearest first, one "function (file:line:column)" per line. */
  readonly stack?: string;
  /** Number of the first workflow task that differs, from 1, among completed ones. */
  readonly firstTask?: number;
  /** A description: what the code does, what history has, the line, and the likely edit. */
  readonly sentence?: string;
  /** The divergence as data. */
  readonly divergence?: Divergence;
  /** How the realm was lost: it did not yield, its thread died, or its core failed. */
  readonly lost?: "spun" | "crashed" | "trapped";
  /** @internal With `follow`: the last reported line, and the time since then, in ms. */
  readonly lastLine?: LineAt & { readonly quietMs: number };
  /** Input of the explanation, if it was not made. */
  readonly evidence?: ReplayEvidence;
}

/** Result of a replay. */
export interface ReplayVerdict {
  /**
   * "ok": the code matches the history. "nondeterminism": it does not. "failed": it threw, or the
   * history cannot be replayed.
   */
  readonly verdict: "ok" | "nondeterminism" | "failed";
  readonly workflowType: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly activations: number;
  readonly events: number;
  /** Differences that do not fail the replay. */
  readonly warnings: readonly CoreWarning[];
  /** The error; absent if the verdict is "ok". */
  readonly error?: ReplayError;
  /** With `record`: the commands of each activation, in order. */
  readonly recorded?: readonly RecordedActivation[];
  /** With `trace`. */
  readonly trace?: ReplayTrace;
  /**
   * With `values`: commands whose values differ from the history, in its order; after a failed
   * replay those before its first difference.
   */
  readonly changedValues?: readonly ChangedValue[];
  /** With `values`: recorded values that could not be compared, because a codec encoded them. */
  readonly uncomparedValues?: readonly UncomparedValue[];
}

type Setup = (
  identity: RunIdentity,
  extra: { record?: boolean; callSites?: boolean; onlyReplays?: boolean },
) => RunSetup;

/** Notified of the progress of a replay. The last report locates code that loops forever. */
export interface ReplayProgress {
  /** With `trace`: called before each activation with the event at which it starts. */
  task?(startedEventId: number): void;
  /** With `follow`: called before a line runs; not for every line of long loops. */
  line?(at: LineAt): void;
}

const noPages: FetchHistory = () =>
  Promise.reject(new Error("the history ends before the event that its last task needs"));

export async function replayHistory(
  setup: Setup,
  workflowId: string,
  history: Uint8Array,
  options: ReplayOptions,
  progress: ReplayProgress = {},
): Promise<ReplayVerdict> {
  // Bytes that do not decode are rejected by the core.
  const { workflowType = "", runId = "" } = readRunStart(history) ?? {};
  const identity = { workflowType, workflowId, runId: options.runId ?? runId };
  const callSites = options.callSites ?? "onFailure";
  // The second pass after a lost replay must not call sinks again.
  const onlyReplays = options.follow === undefined;
  const first = await once(
    setup,
    identity,
    history,
    options,
    callSites === "always",
    onlyReplays,
    progress,
  );
  if (first.error === undefined || callSites !== "onFailure") return first;
  // An error that workflow code threw has a line already. A nondeterminism error still needs the
  // commands, which are compared with history.
  if (first.error.location !== "" && first.verdict !== "nondeterminism") return first;
  const second = await once(setup, identity, history, options, true, false, {});
  return second.error?.code === first.error.code
    ? { ...second, recorded: first.recorded, trace: first.trace }
    : first;
}

async function once(
  setup: Setup,
  identity: RunIdentity,
  history: Uint8Array,
  options: ReplayOptions,
  callSites: boolean,
  onlyReplays: boolean,
  progress: ReplayProgress,
): Promise<ReplayVerdict> {
  const made = setup(identity, { record: options.record, callSites, onlyReplays });
  const traced = options.trace === true;
  const lines = traced && options.lines === true
    ? lineTracing.newTracer?.(options.pathOf)
    : undefined;
  const { follow } = options;
  const { line } = progress;
  const follower = follow === undefined || line === undefined
    ? undefined
    : lineTracing.newFollower?.(follow, line);
  const begin = (startedEventId: number) => {
    follower?.begin(startedEventId);
    progress.task?.(startedEventId);
  };
  const tracer = traced || callSites
    ? new ReplayTracer(traced ? begin : undefined, lines)
    : undefined;
  const run = new CachedRun({
    ...made,
    tracer,
    runOptions: { ...made.runOptions, strict: options.strict ?? made.runOptions.strict },
  });
  try {
    let outcome: TaskOutcome;
    try {
      run.core.startReplay(identity.workflowId, history);
      outcome = await run.drive(noPages);
    } catch (e) {
      const seen = {
        ...(options.record === true ? { recorded: run.recorder!.activations } : {}),
        ...(traced ? { trace: traceOf(run, tracer!) } : {}),
      };
      return {
        ...identity,
        verdict: "failed",
        activations: 0,
        events: 0,
        warnings: [],
        error: errorOfThrown(e),
        ...seen,
      };
    }
    const finished = outcome.response?.$case === "replayFinished"
      ? outcome.response.value
      : { activations: 0, events: 0 };
    // Reported one hop after the last activation.
    const late = outcome.error === undefined ? run.unhandledRejection() : undefined;
    const error = outcome.error !== undefined
      ? errorOf(outcome.error, run, callSites ? tracer : undefined)
      : late && errorOfThrown(late);
    const diverged = outcome.error?.kind === ErrorKind.ERROR_KIND_NONDETERMINISM;
    const verdict = error === undefined ? "ok" : diverged ? "nondeterminism" : "failed";
    return {
      ...identity,
      verdict,
      ...finished,
      warnings: outcome.warnings,
      ...(error === undefined ? {} : { error }),
      ...(options.record === true ? { recorded: run.recorder!.activations } : {}),
      ...(traced ? { trace: traceOf(run, tracer!) } : {}),
    };
  } finally {
    follower?.end();
    run.dispose();
  }
}

/** `tracer`: of a replay with call sites. */
function errorOf(error: CoreError, run: CachedRun, tracer: ReplayTracer | undefined): ReplayError {
  const { code, message, eventId, eventType, expected, actual, commandKind, seq, diffs } = error;
  const thrownAt = userFrame(stackOf(run.thrown));
  // For a thrown value without stack the last command is not the cause (explained.ts).
  const issuedAt = tracer === undefined || isValueThrown(run.thrown)
    ? ""
    : run.recorder?.siteOf(commandKind, seq) ?? "";
  const location = thrownAt !== "" ? thrownAt : issuedAt;
  return {
    name: isA(run.thrown, Error) ? nameOf(run.thrown) : toCoreError(error).name,
    ...{ code, message, eventId, eventType, expected, actual, commandKind, seq, diffs, location },
    ...(run.thrown === undefined ? {} : thrownParts(run.thrown)),
    // Unknown types and undecodable values have no edit to explain: nothing is compared with
    // history.
    ...(tracer === undefined || isA(run.thrown, UnknownWorkflowError) ||
        isA(run.thrown, PayloadConverterError)
      ? {}
      : { evidence: evidenceOf(run, tracer) }),
  };
}

const traceOf = ({ recorder }: CachedRun, tracer: ReplayTracer): ReplayTrace => {
  const { handlers = [] } = recorder ?? {};
  return { ...tracer.trace, ...(handlers.length > 0 && { handlers }) };
};

/** Workflow code threw a value that is not an Error. */
const isValueThrown = (thrown: unknown): boolean =>
  thrown !== undefined && stackFrames(stackOf(thrown)).length === 0;

function thrownParts(thrown: unknown): Pick<ReplayError, "thrown" | "stack"> {
  const stack = userStack(stackOf(thrown));
  return stack === "" ? { thrown } : { thrown, stack };
}

function evidenceOf({ recorder }: CachedRun, tracer: ReplayTracer): ReplayEvidence {
  const { waits, jobs, buffered } = tracer.trace;
  return {
    activations: recorder!.activations,
    waits,
    jobs,
    missedPatches: recorder!.missedPatches,
    failedBranches: recorder!.failedBranches,
    failedHandlers: recorder!.failedHandlers,
    handlers: recorder!.handlers,
    definitions: definitionSites(),
    untaken: buffered.at(-1)?.value ?? {},
  };
}

/**
 * An error without a number: undecodable history, a panic, or a rejection that was reported late.
 */
function errorOfThrown(thrown: unknown): ReplayError {
  const data = thrown instanceof ThrownCoreError ? thrown.data : undefined;
  return {
    name: nameOf(thrown),
    code: data?.code ?? 0,
    message: messageOf(thrown),
    eventId: data?.eventId ?? 0,
    eventType: data?.eventType ?? "",
    expected: data?.expected ?? "",
    actual: data?.actual ?? "",
    location: data === undefined ? userFrame(stackOf(thrown)) : "",
    commandKind: data?.commandKind ?? 0,
    seq: data?.seq ?? 0,
    diffs: data?.diffs ?? [],
    ...(data === undefined ? thrownParts(thrown) : { thrown }),
  };
}
