// Published state, side effects, patches, log and facts of a run.
import { callingFiber } from "../executor/scheduler/api_guard.ts";
import { MisuseError } from "../executor/program/errors.ts";
import type { WorkflowInfo } from "../executor/scheduler/info.ts";
import {
  recordDeprecatedPatch,
  recordPatch,
  recordSideEffect,
} from "../executor/primitives/markers.ts";
import { recordMemo, recordSearchAttributes } from "../executor/primitives/upserts.ts";
import { uuidOf } from "../platform/uuid.ts";
import type { SearchAttributeChanges } from "../converter/search_attributes.ts";

/**
 * Replaces the state that queries see, as of the call: later changes of the value have no effect.
 * Does not wait; allowed anywhere in workflow code.
 */
export function publishState(state: unknown): void {
  const { run } = callingFiber("publishState", "updateState");
  run.published.publish(run.converter, state);
  run.context.watch?.published();
}

/**
 * Sets the text that user interfaces show for this run ("current details"): some lines of plain
 * text or Markdown about its progress. Queries read it; it is not part of history. Does not wait;
 * allowed anywhere in workflow code.
 */
export function setCurrentDetails(details: string): void {
  const { run } = callingFiber("setCurrentDetails", "updateState");
  if (typeof details !== "string") {
    run.misuse(new MisuseError(`setCurrentDetails needs a string, not a ${typeof details}`));
  }
  run.details = details;
}

/**
 * Runs a non-deterministic function once, and returns the recorded value on replay. The function is
 * synchronous, calls no workflow API and must not throw; its value must be encodable. It runs again
 * if the task is retried before its completion is recorded. Use an activity for external effects.
 */
export function sideEffect<T>(fn: () => T extends PromiseLike<unknown> ? never : T): T {
  const { run } = callingFiber("sideEffect");
  return recordSideEffect(run, fn) as T;
}

/**
 * Returns true for executions that reach this point for the first time now, and for those that
 * reached it with the patch: branch on it to change workflow code while executions are open.
 */
export function patched(patchId: string): boolean {
  const { run } = callingFiber("patched");
  return recordPatch(run, patchId);
}

/**
 * Marks a patch whose old branch was removed: executions with and without its marker replay. Call
 * it in place of patched.
 */
export function deprecatePatch(patchId: string): void {
  const { run } = callingFiber("deprecatePatch");
  recordDeprecatedPatch(run, patchId);
}

/** True once a cancellation of the workflow was requested. */
export function cancelled(): boolean {
  const { cancellation } = callingFiber("cancelled", "updateState").run;
  if (cancellation !== undefined) cancellation.told = true;
  return cancellation !== undefined;
}

/** Returns facts about this run as of the call, for example the current length of the history. */
export function workflowInfo(): WorkflowInfo {
  const { run } = callingFiber("workflowInfo", ["updateState", "until"]);
  return run.info!.snapshot();
}

/**
 * Changes search attributes of this run: lists find it by the new values, and `workflowInfo()` has
 * them at once. null removes an attribute; others are unchanged. Does not wait; the next run of
 * continue-as-new has them too.
 *
 * @example
 * upsertSearchAttributes([{ key: status, value: "paid" }, { key: dueAt, value: null }]);
 */
export function upsertSearchAttributes(changes: SearchAttributeChanges): void {
  recordSearchAttributes(callingFiber("upsertSearchAttributes").run, changes);
}

/**
 * Changes the memo of this run: data in describe and list responses, not searchable. Other keys are
 * unchanged; null, undefined or an empty array removes a key. Does not wait; the next run of
 * continue-as-new has it too.
 */
export function upsertMemo(changes: { readonly [key: string]: unknown }): void {
  const { run } = callingFiber("upsertMemo");
  if (typeof changes !== "object" || changes === null || Array.isArray(changes)) {
    throw new TypeError("upsertMemo needs an object that maps keys to values");
  }
  recordMemo(run, changes);
}

/**
 * Workflow time in milliseconds since the epoch: the time of the current task, the same on replay.
 */
export function now(): number {
  return callingFiber("now", "updateState").run.timeMs;
}

/** Returns a number in [0, 1) from the run's seeded generator, the same on replay. */
export function random(): number {
  return callingFiber("random", "updateState").run.random();
}

/** Returns a version 4 UUID from the run's seeded generator, the same on replay. */
export function uuid4(): string {
  return uuidOf(callingFiber("uuid4", "updateState").run.randomBytes(16));
}

type Fields = { readonly [key: string]: unknown };

/**
 * The workflow's log: structured, silent on replay, with the run's ids and workflow time on every
 * line.
 */
export const log: {
  readonly debug: (message: string, fields?: Fields) => void;
  readonly info: (message: string, fields?: Fields) => void;
  readonly warn: (message: string, fields?: Fields) => void;
  readonly error: (message: string, fields?: Fields) => void;
} = Object.freeze({
  debug: (message: string, fields?: Fields) =>
    callingFiber("log", "updateState").run.log.write("debug", message, fields),
  info: (message: string, fields?: Fields) =>
    callingFiber("log", "updateState").run.log.write("info", message, fields),
  warn: (message: string, fields?: Fields) =>
    callingFiber("log", "updateState").run.log.write("warn", message, fields),
  error: (message: string, fields?: Fields) =>
    callingFiber("log", "updateState").run.log.write("error", message, fields),
});
