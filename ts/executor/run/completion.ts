// The end of a run. When the run function settles, open work is canceled and accepted updates
// complete or fail; the terminal command follows at the end of the activation, after all its jobs
// (docs/dev/semantics/messages.md#a-signal-that-meets-the-end). Which errors fail the workflow or
// its task: docs/dev/semantics/errors.md#what-fails-the-workflow-and-what-fails-its-task.
import {
  CancelWorkflowExecution,
  CommandKind,
  CompleteWorkflow,
  ContinueAsNew,
  FailWorkflow,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { encodeFailure } from "../../converter/failure_converter.ts";
import {
  ApplicationFailure,
  CancelledFailure,
  isCancellation,
  TemporalFailure,
} from "../../converter/failures.ts";
import { namingWhat } from "../../converter/lossy_value.ts";
import { headersForNextRun } from "./continue_as_new_headers.ts";
import { CARRY_HEADER, jsonHeader } from "../scheduler/next_run_headers.ts";
import {
  type ContinueAsNewShape,
  isCarry,
  isContinueAsNew,
  isHandlerResult,
} from "../program/definition.ts";
import { toSearchAttributePayloads } from "../../converter/search_attributes.ts";
import { findCause, isA, messageOf, read } from "../../converter/thrown.ts";
import {
  encodePayloads,
  encodeWith,
  wire,
  wireAll,
  wirePayloads,
  wireRecord,
} from "../program/encode.ts";
import { isTaskError, NestingError, taskErrorOf } from "../program/errors.ts";
import type { RunEnd, RunState } from "../scheduler/run_state.ts";
import type { Outcome } from "../scheduler/turns.ts";

export function isContinuing(run: RunState): boolean {
  return run.end?.kind === "continued";
}

/** Called when the run function has settled; its own leftovers are canceled already. */
export function endRun(run: RunState, outcome: Outcome<unknown>): void {
  const end = endOf(run, outcome);
  if (end === undefined) return;
  run.end = end;
  run.receive?.abort(
    end.kind === "failed" || end.kind === "cancelled"
      ? end.error
      : new ApplicationFailure("the workflow ended before the update was finished", {
        type: "AcceptedUpdateCompletedWorkflow",
      }),
  );
  for (const awaiter of [...run.pending]) awaiter.drop();
  run.waiters.clear();
  run.ready.clear();
}

function endOf(run: RunState, outcome: Outcome<unknown>): RunEnd | undefined {
  const where = `workflow "${run.definition.name}"`;
  if (outcome.ok) {
    const { value } = outcome;
    if (isContinueAsNew(value)) return { kind: "continued", next: value };
    if (isHandlerResult(value)) {
      run.fail(
        new NestingError(
          `${where} returned a ${
            value.kind === "async" ? "spawnAsync" : value.kind
          } result; only message handlers of a receive return ` +
            `those, run returns its result`,
        ),
      );
      return undefined;
    }
    if (isCarry(value)) {
      run.fail(
        new NestingError(
          `${where} returned carry(...), but has no rounds: define the workflow with workflow(name, { carry, round })`,
        ),
      );
      return undefined;
    }
    // On replay not an error: an older version may have recorded it.
    if (run.continuedAt !== undefined && !run.isReplaying) {
      const at = run.continuedAt === "" ? "" : ` at ${run.continuedAt}`;
      const call = run.definition.carry === undefined ? "continueAsNew" : "carry or continueAsNew";
      run.fail(
        new NestingError(
          `${where} called ${call}${at} and returned something else, so it would complete; the \`return\` is missing: ` +
            `write \`return ${
              run.definition.carry === undefined ? "continueAsNew" : "carry"
            }(...)\``,
        ),
      );
      return undefined;
    }
    return { kind: "completed", value };
  }
  const { error } = outcome;
  if (isTaskError(error)) run.fail(error);
  else if (run.cancellation !== undefined && isCancellation(error)) {
    return { kind: "cancelled", error };
  } else if (error instanceof TemporalFailure) return { kind: "failed", error };
  else run.fail(taskErrorOf(error, where));
  return undefined;
}

/** Issues the terminal command. */
export function concludeRun(run: RunState, end: RunEnd): void {
  if (end.kind !== "continued") warnOfSignals(run);
  switch (end.kind) {
    case "completed": {
      const what = `the result of workflow "${run.definition.name}"`;
      const result = wire(namingWhat(what, () => run.converter.toPayload(end.value)));
      run.issue(
        CommandKind.COMMAND_KIND_COMPLETE_WORKFLOW,
        encodeWith(CompleteWorkflow, { result }),
      );
      return;
    }
    case "failed":
      run.issue(
        CommandKind.COMMAND_KIND_FAIL_WORKFLOW,
        encodeWith(FailWorkflow, { failure: encodeFailure(end.error, run.context.converter) }),
      );
      return;
    case "cancelled":
      run.issue(
        CommandKind.COMMAND_KIND_CANCEL_WORKFLOW,
        encodeWith(CancelWorkflowExecution, { details: detailsOf(run, end.error) }),
      );
      return;
    case "continued":
      run.issue(
        CommandKind.COMMAND_KIND_CONTINUE_AS_NEW,
        encodeWith(ContinueAsNew, continueAttributes(run, end.next)),
      );
      return;
  }
}

/** The details of the CancelledFailure that ended the run. */
function detailsOf(run: RunState, error: unknown): Uint8Array {
  const cause = findCause(error, (part) => isA(part, CancelledFailure));
  const details = read(cause, "details");
  if (!Array.isArray(details) || details.length === 0) return new Uint8Array(0);
  try {
    return encodePayloads(wireAll(run.context.converter, details));
  } catch (e) {
    run.log.warn("the details of the cancellation were dropped", { error: messageOf(e) });
    return new Uint8Array(0);
  }
}

function continueAttributes(run: RunState, next: ContinueAsNewShape): ContinueAsNew {
  const { options } = next;
  return {
    workflowType: options.workflowType ?? "",
    taskQueue: options.taskQueue ?? "",
    arguments: namingWhat(
      "the arguments of continueAsNew",
      () => wireAll(run.converter, next.args),
    ),
    workflowRunTimeoutMs: options.runTimeoutMs ?? 0,
    workflowTaskTimeoutMs: options.taskTimeoutMs ?? 0,
    memo: options.memo === undefined
      ? wirePayloads(run.info?.changedMemo ?? {})
      : wireRecord(run.converter, options.memo),
    headers: {
      ...run.headers.fields,
      ...headersForNextRun(run, next.carries === true),
      ...(next.carries === true ? jsonHeader.write(CARRY_HEADER, true) : {}),
    },
    searchAttributes: wirePayloads(toSearchAttributePayloads(options.searchAttributes ?? {})),
    retryPolicy: undefined,
    backoffStartIntervalMs: 0,
    initialVersioningBehavior: 0,
    versioningIntent: 0,
  };
}

/** Logs signals that are dropped with the run. */
function warnOfSignals(run: RunState): void {
  const left = run.inbox.signals();
  if (left.length === 0) return;
  const names = [...new Set(left.map((signal) => signal.name))];
  run.log.warn(
    `the workflow ended with ${left.length} unprocessed signal${left.length === 1 ? "" : "s"}: ${
      names.join(", ")
    }`,
    {
      signals: names,
      count: left.length,
    },
  );
}
