// Side effects and patches recorded in history, and those that the run has requested. The core
// looks ahead and passes them before the jobs of their activation. Most runs have neither, so
// tables are created on use.
import type { WirePayload } from "../program/encode.ts";

export class MarkerTable {
  #sideEffects: Map<number, WirePayload | undefined> | undefined;
  #nextSideEffect = 0;
  /** Patches that history records for the tasks so far. */
  #notified: Set<string> | undefined;
  /** Patches for which this run returned true, or that it deprecated: their marker was issued. */
  #patched: Set<string> | undefined;
  #deprecated: Set<string> | undefined;

  restoreSideEffect(id: number, payload: WirePayload | undefined): void {
    (this.#sideEffects ??= new Map()).set(id, payload);
  }

  /** The id of the next side effect, and its value if history has one. */
  nextSideEffect(): {
    readonly id: number;
    readonly recorded: { readonly payload: WirePayload | undefined } | undefined;
  } {
    const id = this.#nextSideEffect++;
    if (this.#sideEffects?.has(id) !== true) return { id, recorded: undefined };
    const payload = this.#sideEffects.get(id);
    this.#sideEffects.delete(id);
    return { id, recorded: { payload } };
  }

  notifyPatch(id: string): void {
    (this.#notified ??= new Set()).add(id);
  }

  isNotified(patchId: string): boolean {
    return this.#notified?.has(patchId) === true;
  }

  isPatched(patchId: string): boolean {
    return this.#patched?.has(patchId) === true;
  }

  isDeprecated(patchId: string): boolean {
    return this.#deprecated?.has(patchId) === true;
  }

  addPatched(patchId: string): void {
    (this.#patched ??= new Set()).add(patchId);
  }

  addDeprecated(patchId: string): void {
    (this.#deprecated ??= new Set()).add(patchId);
  }
}
