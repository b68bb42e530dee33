// Evaluates the modules of a program once at load, for a run that does not exist: errors are
// reported then and not by the first run, exports are known, and additions to built-in objects
// happen before those are frozen. Top-level code may need facts of a run; if it fails then, only a
// run can tell whether it is wrong.
import { defaultPayloadConverter } from "../converter/payload.ts";
import { current } from "../executor/program/current.ts";
import { type RunContext, silentLog } from "../executor/program/program.ts";
import { hop } from "../platform/hop.ts";
import { TypedSearchAttributes } from "./common/search_attributes.ts";
import { setCurrentRun } from "./current.ts";
import type { Exports } from "./exports.ts";
import type { CompatProgramOptions } from "./program.ts";
import { CompatRun } from "./run.ts";
import { runGlobals } from "./sandbox/globals.ts";
import type { WorkflowInfo } from "./workflow/info.ts";

/**
 * Result of the evaluation; `exported` is undefined if it failed in a way that another run may not.
 */
export interface Rehearsed {
  readonly exported: readonly Exports[] | undefined;
  /** Exports of the converter's module; undefined without one. */
  readonly converter: Exports | undefined;
}

const NOWHERE: RunContext = {
  run: {
    command: () => 0,
    cancel: () => {},
    random: () => 0,
    randomBytes: (length) => new Uint8Array(length),
  },
  converter: defaultPayloadConverter,
  log: silentLog,
  namespace: "",
  workflowType: "",
  workflowId: "",
  runId: "",
  callSites: false,
  sdkVersion: "",
};

/** Evaluates the modules. Rejects with what their code throws. `nowMs`: the time for their code. */
export async function rehearse(options: CompatProgramOptions, nowMs: number): Promise<Rehearsed> {
  const asked = { info: false };
  let converter: Exports | undefined;
  const run = new CompatRun(NOWHERE, {
    scopes: options.scopes,
    info: noInfo(asked, nowMs),
    timeMs: nowMs,
    randomnessSeed: "0",
  });
  const before = setCurrentRun(run);
  const clock = current.run;
  current.run = run;
  try {
    const exported = options.scopes.run(undefined, () => {
      const modules = options.modules({ globals: runGlobals(), helper: options.helper });
      converter = modules.converter();
      run.interceptors.add(modules.interceptors());
      return modules.workflows();
    });
    return { exported, converter };
  } catch (error) {
    if (asked.info) return { exported: undefined, converter };
    throw error;
  } finally {
    // Calls of async functions belong to this run as well.
    await hop();
    setCurrentRun(before);
    current.run = clock;
  }
}

/** Information for no run; records that it was requested. */
function noInfo(asked: { info: boolean }, nowMs: number): WorkflowInfo {
  const info: WorkflowInfo = {
    workflowId: "",
    runId: "",
    workflowType: "",
    searchAttributes: {},
    typedSearchAttributes: new TypedSearchAttributes(),
    memo: {},
    historyLength: 0,
    historySize: 0,
    continueAsNewSuggested: false,
    targetWorkerDeploymentVersionChanged: false,
    originalExecutionRunId: "",
    priority: {},
    taskQueue: "",
    namespace: "",
    firstExecutionRunId: "",
    startTime: new Date(nowMs),
    runStartTime: new Date(nowMs),
    taskTimeoutMs: 0,
    attempt: 1,
    unsafe: {
      now: () => nowMs,
      isReplaying: true,
      isReplayingHistoryEvents: true,
      random: { random: () => 0, uuid4: () => "", fillRandom: (bytes) => bytes },
    },
  };
  return new Proxy(info, {
    get(target, name) {
      asked.info = true;
      return Reflect.get(target, name);
    },
  });
}
