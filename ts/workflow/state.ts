// What a run shows and remembers beside its history of events: published state, side effects, versions, its log and facts about itself.
import { callingFiber } from "../executor/scheduler/api_guard.ts";
import { MisuseError } from "../executor/program/errors.ts";
import type { WorkflowInfo } from "../executor/scheduler/info.ts";
import {
  deprecatePatch as deprecatePatchIn,
  patched as patchedIn,
  sideEffect as sideEffectOf,
} from "../executor/primitives/markers.ts";
import {
  upsertMemo as upsertMemoOf,
  upsertSearchAttributes as upsertSearchAttributesOf,
} from "../executor/primitives/upserts.ts";
import { uuidOf } from "../platform/uuid.ts";
import type { SearchAttributeChanges } from "../converter/search_attributes.ts";

/**
 * Replaces the state that queries see, as it is at the call: later changes to the value are not seen. Does not wait; anywhere in workflow
 * code.
 */
export function publishState(state: unknown): void {
  const { run } = callingFiber("publishState", "updateState");
  run.published.publish(run.converter, state);
  run.context.watch?.published();
}

/**
 * Sets the text that user interfaces show for this run ("current details"), as it is from here on: some lines of plain text or Markdown
 * about where it stands. Queries ask for it; it is no part of history and costs no event. Does not wait; anywhere in workflow code.
 */
export function setCurrentDetails(details: string): void {
  const { run } = callingFiber("setCurrentDetails", "updateState");
  if (typeof details !== "string") {
    run.misuse(new MisuseError(`setCurrentDetails needs a string, not a ${typeof details}`));
  }
  run.details = details;
}

/**
 * Runs a function that is not deterministic once, and gives the recorded value on replay. The function is synchronous, calls no workflow
 * API and must not throw; its value must survive the payload converter. If the task is tried again before its completion is recorded the
 * function runs again. For anything with effects outside use an activity.
 */
export function sideEffect<T>(fn: () => T extends PromiseLike<unknown> ? never : T): T {
  const { run } = callingFiber("sideEffect");
  return sideEffectOf(run, fn) as T;
}

/**
 * True for executions that reach this point for the first time now, and for those that did when the patch was there already: branch on it
 * to change a workflow's code while executions are open.
 */
export function patched(patchId: string): boolean {
  const { run } = callingFiber("patched");
  return patchedIn(run, patchId);
}

/** Marks a patch whose old branch is gone: executions with and without its marker replay. Call it where patched was. */
export function deprecatePatch(patchId: string): void {
  const { run } = callingFiber("deprecatePatch");
  deprecatePatchIn(run, patchId);
}

/** True once a cancellation of the workflow was requested. */
export function cancelled(): boolean {
  const { cancellation } = callingFiber("cancelled", "updateState").run;
  if (cancellation !== undefined) cancellation.told = true;
  return cancellation !== undefined;
}

/** Facts about this run, as they are at the call: ask again for the history's length at a later point. */
export function workflowInfo(): WorkflowInfo {
  const { run } = callingFiber("workflowInfo", ["updateState", "until"]);
  return run.info!.snapshot();
}

/**
 * Changes search attributes of this run, from now on: lists find it by the new values, and `workflowInfo()` shows them at once. A value of
 * null removes the attribute; those that are not named stay. Does not wait; the next run of a continue-as-new has them too.
 *
 * @example
 * upsertSearchAttributes([{ key: status, value: "paid" }, { key: dueAt, value: null }]);
 */
export function upsertSearchAttributes(changes: SearchAttributeChanges): void {
  upsertSearchAttributesOf(callingFiber("upsertSearchAttributes").run, changes);
}

/**
 * Changes the memo of this run: data that describe and list show and do not search. Keys that are not named stay; null or undefined
 * removes one, and so does an empty array, which services take for nothing. Does not wait; the next run of a continue-as-new has it too.
 */
export function upsertMemo(changes: { readonly [key: string]: unknown }): void {
  const { run } = callingFiber("upsertMemo");
  if (typeof changes !== "object" || changes === null || Array.isArray(changes)) {
    throw new TypeError("upsertMemo needs an object that maps keys to values");
  }
  upsertMemoOf(run, changes);
}

/** Workflow time in milliseconds since the epoch: the time of the task being processed, the same on replay. */
export function now(): number {
  return callingFiber("now", "updateState").run.timeMs;
}

/** A number in [0, 1) of the run's seeded generator, the same on replay. */
export function random(): number {
  return callingFiber("random", "updateState").run.random();
}

/** A version 4 UUID of the run's seeded generator, the same on replay. */
export function uuid4(): string {
  return uuidOf(callingFiber("uuid4", "updateState").run.randomBytes(16));
}

type Fields = { readonly [key: string]: unknown };

/** The workflow's log: structured, silent on replay, with the run's ids and workflow time on every line. */
export const log: {
  readonly debug: (message: string, fields?: Fields) => void;
  readonly info: (message: string, fields?: Fields) => void;
  readonly warn: (message: string, fields?: Fields) => void;
  readonly error: (message: string, fields?: Fields) => void;
} = Object.freeze({
  debug: (message: string, fields?: Fields) => callingFiber("log", "updateState").run.log.write("debug", message, fields),
  info: (message: string, fields?: Fields) => callingFiber("log", "updateState").run.log.write("info", message, fields),
  warn: (message: string, fields?: Fields) => callingFiber("log", "updateState").run.log.write("warn", message, fields),
  error: (message: string, fields?: Fields) => callingFiber("log", "updateState").run.log.write("error", message, fields),
});
