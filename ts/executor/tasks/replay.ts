// Replays of histories with no reporter: the verdict of the replay command, of determinism tests and of the debugger.
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
import type { Divergence } from "./divergence.ts";
import { userFrame, userStack } from "../program/call_site.ts";
import { UnknownWorkflowError } from "../program/errors.ts";
import type { Followed, LineAt } from "./line_follower.ts";
import { lineTracing } from "./line_tracing.ts";
import type { MissedPatch, RecordedActivation, SetHandler } from "./recording.ts";
import { type ReplayTrace, ReplayTracer } from "./replay_trace.ts";
import { readRunStart } from "../../api/history_start.ts";

/** Options of a replay. */
export interface ReplayOptions {
  /** Extra commands and swapped update ids fail the replay instead of being warnings. */
  readonly strict?: boolean;
  /** Keep the commands of every activation. */
  readonly record?: boolean;
  /** Also write down what the run waited for, published and logged, task by task. Needs `record`. */
  readonly trace?: boolean;
  /**
   * With `trace`: also which lines ran, and what variables were, where the realm has the code with probes (its own option `lines`). Jobs
   * and commands are the same.
   */
  readonly lines?: boolean;
  /** With `lines`: also in which order they ran, in the task that started at this event. */
  readonly pathOf?: number;
  /**
   * @internal With `trace`: tell of lines before they run, where the realm has the code with probes. Where is code that never ends?
   */
  readonly follow?: Followed;
  /** Where commands were issued: never, always, or in a second replay after a divergence (default). */
  readonly callSites?: "never" | "onFailure" | "always";
  /** A divergence is explained, for which the history is replayed some times more. Default: true, where call sites are taken. */
  readonly explain?: boolean;
  /** Overrides the run id of the history's first event. */
  readonly runId?: string;
}

/** What a replay wrote down on the way to its error: where and how code and history part is found in it (debug/divergence). */
export interface ReplayEvidence {
  readonly activations: readonly RecordedActivation[];
  /** What the code waited for, in activations. */
  readonly waits: ReplayTrace["waits"];
  readonly jobs: ReplayTrace["jobs"];
  readonly missedPatches: readonly MissedPatch[];
  readonly handlers: readonly SetHandler[];
}

export interface ReplayError {
  /** Class of the error: "NondeterminismError", "FatalCoreError", "DeadlockError", ... */
  readonly name: string;
  /** Stable number of the core's error table; 0 for an error of workflow code that the core did not number. */
  readonly code: number;
  readonly message: string;
  /** 0 when not known. */
  readonly eventId: number;
  readonly eventType: string;
  readonly expected: string;
  readonly actual: string;
  /** The user's line: "function (file:line:column)"; "" when not known. */
  readonly location: string;
  readonly commandKind: CommandKind;
  readonly seq: number;
  readonly diffs: CoreError["diffs"];
  /** What workflow code threw, when it did. */
  readonly thrown?: unknown;
  /** Of an error that workflow code threw: the user's frames, nearest first, one "function (file:line:column)" per line. */
  readonly stack?: string;
  /** Number of the first workflow task, from 1, that code and history differ in: those that completed are counted. */
  readonly firstTask?: number;
  /** What happened, for people: what the code does, what history has, the line, and what was probably changed. */
  readonly sentence?: string;
  /** All that is known of it. */
  readonly divergence?: Divergence;
  /** What became of the realm that code took down: it was stopped because it did not yield, its thread died, or its core broke. */
  readonly lost?: "spun" | "crashed" | "trapped";
  /** @internal With `follow`: the line that was told last, and for how long nothing was told any more, milliseconds. */
  readonly lastLine?: LineAt & { readonly quietMs: number };
  /** What the explanation is made of, where it has not been made. */
  readonly evidence?: ReplayEvidence;
}

/** What came of a replay. */
export interface ReplayVerdict {
  /**
   * "ok": the code makes the commands that the history records. "nondeterminism": it makes others. "failed": it threw, or the history
   * cannot be replayed.
   */
  readonly verdict: "ok" | "nondeterminism" | "failed";
  /** Type of the workflow. */
  readonly workflowType: string;
  /** Id that it was replayed under. */
  readonly workflowId: string;
  /** Id of the run. */
  readonly runId: string;
  /** How often code was run. */
  readonly activations: number;
  /** Events that were replayed. */
  readonly events: number;
  /** What differs without making the replay fail. */
  readonly warnings: readonly CoreWarning[];
  /** Where and how it went wrong; absent when all is well. */
  readonly error?: ReplayError;
  /** With `record`: the commands of each activation, in order. */
  readonly recorded?: readonly RecordedActivation[];
  /** With `trace`. */
  readonly trace?: ReplayTrace;
}

type Setup = (identity: RunIdentity, extra: { record?: boolean; callSites?: boolean; onlyReplays?: boolean }) => RunSetup;

/** Is told how far a replay has come. What it was told last names the task, and the line, of code that never ends. */
export interface ReplayProgress {
  /** With `trace`: of the event at which each activation begins, before it does. */
  task?(startedEventId: number): void;
  /** With `follow`: of the line that runs next; of many lines in a row not of each. */
  line?(at: LineAt): void;
}

const noPages: FetchHistory = () => Promise.reject(new Error("the history ends before the event that its last task needs"));

export async function replayHistory(
  setup: Setup,
  workflowId: string,
  history: Uint8Array,
  options: ReplayOptions,
  progress: ReplayProgress = {},
): Promise<ReplayVerdict> {
  // Bytes that are no history are the core's to refuse.
  const { workflowType = "", runId = "" } = readRunStart(history) ?? {};
  const identity = { workflowType, workflowId, runId: options.runId ?? runId };
  const callSites = options.callSites ?? "onFailure";
  // What follows a replay that was lost calls nothing a second time.
  const onlyReplays = options.follow === undefined;
  const first = await once(setup, identity, history, options, callSites === "always", onlyReplays, progress);
  if (first.error === undefined || callSites !== "onFailure" || first.error.location !== "") return first;
  const second = await once(setup, identity, history, options, true, false, {});
  return second.error?.code === first.error.code ? { ...second, recorded: first.recorded, trace: first.trace } : first;
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
  const lines = traced && options.lines === true ? lineTracing.newTracer?.(options.pathOf) : undefined;
  const { follow } = options;
  const { line } = progress;
  const follower = follow === undefined || line === undefined ? undefined : lineTracing.newFollower?.(follow, line);
  const begin = (startedEventId: number) => {
    follower?.begin(startedEventId);
    progress.task?.(startedEventId);
  };
  const tracer = traced || callSites ? new ReplayTracer(traced ? begin : undefined, lines) : undefined;
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
        ...(traced ? { trace: tracer!.trace } : {}),
      };
      return { ...identity, verdict: "failed", activations: 0, events: 0, warnings: [], error: errorOfThrown(e), ...seen };
    }
    const finished = outcome.response?.$case === "replayFinished" ? outcome.response.value : { activations: 0, events: 0 };
    // Reported a hop late, behind the last activation.
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
      ...(traced ? { trace: tracer!.trace } : {}),
    };
  } finally {
    follower?.end();
    run.dispose();
  }
}

/** `tracer`: of a replay that took call sites. */
function errorOf(error: CoreError, run: CachedRun, tracer: ReplayTracer | undefined): ReplayError {
  const { code, message, eventId, eventType, expected, actual, commandKind, seq, diffs } = error;
  const thrownAt = userFrame(stackOf(run.thrown));
  // The last command is not where code threw a value without a stack: another line may have thrown it (explained.ts).
  const issuedAt = tracer === undefined || isValueThrown(run.thrown) ? "" : run.recorder?.siteOf(commandKind, seq) ?? "";
  const location = thrownAt !== "" ? thrownAt : issuedAt;
  return {
    name: isA(run.thrown, Error) ? nameOf(run.thrown) : toCoreError(error).name,
    ...{ code, message, eventId, eventType, expected, actual, commandKind, seq, diffs, location },
    ...(run.thrown === undefined ? {} : thrownParts(run.thrown)),
    // (Of a type that is not here no code has run, and values that cannot be read are no edit: nothing is to be compared with history.)
    ...(tracer === undefined || isA(run.thrown, UnknownWorkflowError) || isA(run.thrown, PayloadConverterError)
      ? {}
      : { evidence: evidenceOf(run, tracer) }),
  };
}

/** Workflow code threw something that is not an Error. */
const isValueThrown = (thrown: unknown): boolean => thrown !== undefined && stackFrames(stackOf(thrown)).length === 0;

function thrownParts(thrown: unknown): Pick<ReplayError, "thrown" | "stack"> {
  const stack = userStack(stackOf(thrown));
  return stack === "" ? { thrown } : { thrown, stack };
}

function evidenceOf({ recorder }: CachedRun, tracer: ReplayTracer): ReplayEvidence {
  const { waits, jobs } = tracer.trace;
  return {
    activations: recorder!.activations,
    waits,
    jobs,
    missedPatches: recorder!.missedPatches,
    handlers: recorder!.handlers,
  };
}

/** An error that the core did not number: it refused bytes that are no history, or panicked; or a rejection that was reported late. */
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
