// Side effects and patches: values and decisions that history records in markers
// (scheduler/marker_table.ts).
import {
  CommandKind,
  RecordSideEffect,
  SetPatchMarker,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { namingWhat } from "../../converter/lossy_value.ts";
import { encodeWith, wire, type WirePayload } from "../program/encode.ts";
import { HistoryMismatchError, MisuseError, taskErrorOf } from "../program/errors.ts";
import type { RunState } from "../scheduler/run_state.ts";
import { inClosureWithMicrotasks } from "../program/current.ts";

/** Returns the value of `fn`, computed once per run; on replay the recorded one. */
export function recordSideEffect(run: RunState, fn: () => unknown): unknown {
  const { id, recorded } = run.markers.nextSideEffect();
  if (recorded !== undefined) {
    issueSideEffect(run, id, recorded.payload);
    return recorded.payload === undefined ? undefined : run.converter.fromPayload(recorded.payload);
  }
  if (run.isReplaying) {
    run.port.sideEffectMissed?.(id);
    run.misuse(
      new HistoryMismatchError(`No side effect marker in history for side effect id ${id}`),
    );
  }
  let payload: WirePayload;
  try {
    // Getters and toJSON of the value are not called on replay either.
    payload = inClosureWithMicrotasks("sideEffect", () => {
      const value = fn();
      if (typeof (value as PromiseLike<unknown> | undefined)?.then === "function") {
        Promise.resolve(value).catch(() => {});
        throw new MisuseError(
          "the function of sideEffect returned a promise; use an activity for asynchronous work",
        );
      }
      return wire(namingWhat("the value of sideEffect", () => run.converter.toPayload(value)));
    });
  } catch (e) {
    // An error cannot be recorded, so it fails the task: on replay `fn` could succeed.
    const error = taskErrorOf(e, "the function of sideEffect");
    run.fail(error);
    throw error;
  }
  issueSideEffect(run, id, payload);
  // Returns the decoded value, as on replay.
  return run.converter.fromPayload(payload);
}

/** A result of false on replay is not recorded: the run may end its replay between two calls. */
export function recordPatch(run: RunState, id: string): boolean {
  const { markers } = run;
  if (markers.isPatched(id)) return true;
  if (run.isReplaying && !markers.isNotified(id)) {
    run.port.patchMissed?.(id);
    return false;
  }
  markers.addPatched(id);
  issuePatch(run, id, false);
  return true;
}

export function recordDeprecatedPatch(run: RunState, id: string): void {
  const { markers } = run;
  if (markers.isDeprecated(id) || markers.isPatched(id)) return;
  markers.addDeprecated(id);
  issuePatch(run, id, true);
}

function issueSideEffect(run: RunState, id: number, payload: WirePayload | undefined): void {
  run.issue(
    CommandKind.COMMAND_KIND_RECORD_SIDE_EFFECT,
    encodeWith(RecordSideEffect, { id, payload }),
  );
}

function issuePatch(run: RunState, patchId: string, deprecated: boolean): void {
  run.issue(
    CommandKind.COMMAND_KIND_SET_PATCH_MARKER,
    encodeWith(SetPatchMarker, { patchId, deprecated }),
  );
}
