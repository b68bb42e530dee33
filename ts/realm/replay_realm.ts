// A realm that only replays. In Node before 24, AsyncLocalStorage takes up to half of the time of a
// replay, so scopes follow async functions by rewritten code. Only an unchanged replay is decided
// that way, and only if the code has no construct whose scope is not followed exactly. Other verdicts
// come from a second realm, which runs the code like a worker.
import { silentLog } from "../executor/program/program.ts";
import { asyncStorageIsSlow } from "../platform/async_context.ts";
import { fileSources, hasFiles, keptSources, type SourceHost } from "../platform/source_files.ts";
import type { ReplayOptions, ReplayVerdict } from "./realm.ts";
import type { InjectedSinks } from "./sinks.ts";
import type { WorkerRealm, WorkerRealmOptions } from "./worker_realm.ts";

type Start = (options: WorkerRealmOptions) => Promise<WorkerRealm>;

/** Starts a realm for replays. Rejects like `createWorkerRealm`. */
export async function createReplayRealm(
  start: Start,
  given: WorkerRealmOptions,
): Promise<WorkerRealm> {
  if (!asyncStorageIsSlow()) return await start(given);
  const options = withKeptSources(given);
  const rewritten = await start({ ...options, scopes: "rewritten" });
  if (!rewritten.needsTemporal) return rewritten;
  if (!rewritten.followsScopes) {
    await rewritten.dispose();
    return await start(options);
  }
  const { onStarting: _, ...again } = options;
  return withSecondRealm(
    rewritten,
    () => start({ ...again, log: silentLog, sinks: ignoredSinks(options.sinks ?? {}) }),
  );
}

/** Both realms run the same program, also if a file is saved between their starts. */
function withKeptSources(options: WorkerRealmOptions): WorkerRealmOptions {
  const { workflows, sources } = options;
  if (workflows === undefined) return options;
  if (sources === undefined) {
    return hasFiles() ? { ...options, sources: keptSources(fileSources()) } : options;
  }
  return typeof (sources as SourceHost).read === "function"
    ? { ...options, sources: keptSources(sources as SourceHost) }
    : options;
}

function withSecondRealm(first: WorkerRealm, start: () => Promise<WorkerRealm>): WorkerRealm {
  let second: Promise<WorkerRealm> | undefined;
  const replay = async (
    workflowId: string,
    history: Uint8Array,
    options: ReplayOptions = {},
  ): Promise<ReplayVerdict> => {
    if (options.record !== true) {
      const brief = { ...options, callSites: "never", explain: false } as const;
      const verdict = await first.replay(workflowId, history, brief);
      if (isUnchanged(verdict)) return verdict;
    }
    // A start that failed may succeed later.
    second ??= start().catch((error) => {
      second = undefined;
      throw error;
    });
    return await (await second).replay(workflowId, history, options);
  };
  return {
    workflowTypes: first.workflowTypes,
    takesAnyType: first.takesAnyType,
    versioningBehaviors: first.versioningBehaviors,
    warnings: first.warnings,
    needsTemporal: true,
    followsScopes: true,
    get cachedRuns() {
      return first.cachedRuns;
    },
    runTask: (...task) => first.runTask(...task),
    replay,
    taskReported: (...report) => first.taskReported(...report),
    evict: (runId) => first.evict(runId),
    async dispose() {
      await first.dispose();
      await (await second?.catch(() => undefined))?.dispose();
    },
  };
}

const isUnchanged = ({ verdict, warnings, changedValues = [] }: ReplayVerdict): boolean =>
  verdict === "ok" && warnings.length === 0 && changedValues.length === 0;

/** The first realm has called the sinks of the replay. */
const ignoredSinks = (sinks: InjectedSinks): InjectedSinks =>
  Object.fromEntries(
    Object.entries(sinks).map(([name, methods]) => [
      name,
      Object.fromEntries(Object.keys(methods).map((method) => [method, { fn() {} }])),
    ]),
  );
