// Side effects and patches: values and decisions that history remembers in markers. The core looks ahead and hands them over before the
// jobs of the activation in which they are asked for.
import { CommandKind, RecordSideEffect, SetPatchMarker } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { namingWhat } from "../../converter/lossy_value.ts";
import { encode, wire, type WirePayload } from "../scheduler/encode.ts";
import { HistoryMismatchError, MisuseError, taskErrorOf } from "../scheduler/errors.ts";
import type { NativeRun } from "../scheduler/run.ts";
import { inFencedClosure } from "../scheduler/current.ts";

/** Most runs have neither, so the tables are made when they are needed. */
export class Markers {
  #sideEffects: Map<number, WirePayload | undefined> | undefined;
  #nextSideEffect = 0;
  /** Patches that history records for the tasks seen so far. */
  #notified: Set<string> | undefined;
  /** Patches that this run has answered true for, or deprecated: their marker was issued. */
  #patched: Set<string> | undefined;
  #deprecated: Set<string> | undefined;

  restoreSideEffect(id: number, payload: WirePayload | undefined): void {
    (this.#sideEffects ??= new Map()).set(id, payload);
  }

  notifyPatch(id: string): void {
    (this.#notified ??= new Set()).add(id);
  }

  sideEffect(run: NativeRun, fn: () => unknown): unknown {
    const id = this.#nextSideEffect++;
    if (this.#sideEffects?.has(id) === true) {
      const payload = this.#sideEffects.get(id);
      this.#sideEffects.delete(id);
      issueSideEffect(run, id, payload);
      return payload === undefined ? undefined : run.converter.fromPayload(payload);
    }
    if (run.isReplaying) run.misuse(new HistoryMismatchError(`No side effect marker in history for side effect id ${id}`));
    let payload: WirePayload;
    try {
      // Getters and toJSON of the value are not run on replay either.
      payload = inFencedClosure("sideEffect", () => {
        const value = fn();
        if (typeof (value as PromiseLike<unknown> | undefined)?.then === "function") {
          Promise.resolve(value).catch(() => {});
          throw new MisuseError("the function of sideEffect returned a promise; use an activity for work that waits");
        }
        return wire(namingWhat("the value of sideEffect", () => run.converter.toPayload(value)));
      });
    } catch (e) {
      // It must not fail: what failed here could succeed on replay, or the other way round.
      const error = taskErrorOf(e, "the function of sideEffect");
      run.fail(error);
      throw error;
    }
    issueSideEffect(run, id, payload);
    // What replay will see, not the original: an undefined property is absent in both.
    return run.converter.fromPayload(payload);
  }

  /** A replay's "false" is not remembered: the run may go live between two calls. */
  patched(run: NativeRun, id: string): boolean {
    if (this.#patched?.has(id) === true) return true;
    if (run.isReplaying && this.#notified?.has(id) !== true) return false;
    (this.#patched ??= new Set()).add(id);
    issuePatch(run, id, false);
    return true;
  }

  deprecatePatch(run: NativeRun, id: string): void {
    if (this.#deprecated?.has(id) === true || this.#patched?.has(id) === true) return;
    (this.#deprecated ??= new Set()).add(id);
    issuePatch(run, id, true);
  }
}

function issueSideEffect(run: NativeRun, id: number, payload: WirePayload | undefined): void {
  run.issue(CommandKind.COMMAND_KIND_RECORD_SIDE_EFFECT, encode(RecordSideEffect, { id, payload }));
}

function issuePatch(run: NativeRun, patchId: string, deprecated: boolean): void {
  run.issue(CommandKind.COMMAND_KIND_SET_PATCH_MARKER, encode(SetPatchMarker, { patchId, deprecated }));
}
