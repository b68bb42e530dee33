// Replacements for realms and their tasks, for tests of something else.
import type { Realm, TaskHead } from "../../ts/realm/realm.ts";

/** The head of a first workflow task. */
export const headWith = (fields: Partial<TaskHead> = {}): TaskHead => ({
  workflowId: "w",
  runId: "r",
  workflowType: "W",
  attempt: 1,
  query: undefined,
  queries: undefined,
  previousStartedEventId: 0,
  startedEventId: 3,
  firstEventId: 1,
  scheduledMs: 0,
  startedMs: 0,
  ...fields,
});

/** A realm without workflows, which expects no task. */
export const scriptedRealm = (parts: Partial<Realm> = {}): Realm => ({
  workflowTypes: [],
  takesAnyType: false,
  versioningBehaviors: new Map(),
  cachedRuns: 0,
  runTask: () => Promise.reject(new Error("no task expected")),
  replay: () => Promise.reject(new Error("no replay expected")),
  taskReported: () => {},
  evict: () => {},
  dispose: () => Promise.resolve(),
  ...parts,
});
