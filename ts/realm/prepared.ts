// A realm that has all but its modules: what it needs of the host is taken, the core is started, the guard is installed. A host that will have
// modules in a while has this done ahead.
import { loadWorkerCoreSync, type WorkerCore } from "../core/worker_half.ts";
import { current } from "../executor/program/current.ts";
import { lineProbes } from "../executor/program/line_probe.ts";
import type { LogEntry } from "../executor/program/program.ts";
import { lineTracing } from "../executor/tasks/line_tracing.ts";
import { captureRejections, type RejectionHost } from "../platform/rejections.ts";
import type { HostPort } from "../platform/threads.ts";
import { sendableFields } from "../converter/sendable.ts";
import { formatArgs } from "./guard/console.ts";
import { type Guard, installGuard } from "./guard/mod.ts";
import { installStacks } from "./guard/stacks.ts";
import type { FromRealm, InitMessage } from "./protocol.ts";
import type { TemporalPrograms } from "./temporal_programs.ts";

/** Where a log line comes from that is no run's. */
export const NO_RUN = { workflowType: "", workflowId: "", runId: "", fields: {} };

export interface PreparedRealm {
  readonly send: (message: FromRealm, transfer?: readonly object[]) => void;
  readonly log: (entry: LogEntry) => void;
  readonly core: WorkerCore;
  readonly rejections: RejectionHost;
  readonly guard: Guard;
  /** The host's clock, which the guard closes. */
  readonly nowMs: () => number;
  /** For programs of `@temporalio/workflow`; undefined where the modules were known to have none. */
  readonly temporal: TemporalPrograms | undefined;
  /** A sign of life every so often while it is started. */
  readonly heartbeat: (everyMs: number) => Heartbeat;
}

export interface Heartbeat {
  start(): void;
  stop(): void;
}

/** For modules that are known. */
export function prepared(port: HostPort, { core, graph }: InitMessage, own: Pick<Wanted, "core">): Promise<PreparedRealm> {
  return prepare(port, {
    core: core ?? own.core,
    hasLines: graph?.modules.some(({ probes }) => probes !== undefined) === true,
    temporal: graph?.needsTemporal === true ? graph.restoreFrames : undefined,
  });
}

/** For modules that come later: they may have probes, and be programs of either dialect with rewritten scopes. Then does `work`. */
export async function preparedEarly(
  port: HostPort,
  core: Promise<WebAssembly.Module>,
  work: (core: WorkerCore) => Promise<void>,
): Promise<PreparedRealm> {
  const made = await prepare(port, { core, hasLines: true, temporal: true });
  // There is no way back behind the guard.
  await work(made.core).catch(() => {});
  return made;
}

interface Wanted {
  readonly core?: WebAssembly.Module | Promise<WebAssembly.Module> | undefined;
  readonly hasLines: boolean;
  /** Of programs of `@temporalio/workflow`, if there are some: their scopes are rewritten. */
  readonly temporal: boolean | undefined;
}

async function prepare(port: HostPort, wanted: Wanted): Promise<PreparedRealm> {
  const send = (message: FromRealm, transfer?: readonly object[]) => port.post(message, transfer);
  const log = (entry: LogEntry) => {
    send({ t: "log", entry: { ...entry, fields: sendableFields(entry.fields) } });
  };
  const { now } = Date;
  const stray = (reason: unknown) => {
    const message = `a promise that belongs to no workflow task was rejected: ${formatArgs([reason])}`;
    log({ ...NO_RUN, level: "error", message, timeMs: 0, source: "executor" });
  };
  const rejections = captureRejections({ ownThread: true, stray });
  const heartbeat = heartbeats(() => send({ t: "alive" }));
  if (wanted.core === undefined) {
    throw new Error("the realm was given no core, neither by its host nor by its entry file");
  }
  const core = loadWorkerCoreSync(await wanted.core);
  const temporal = await temporalPrograms(wanted.temporal);
  installStacks();
  if (wanted.hasLines) await prepareLines();
  const guard = installGuard({
    current,
    log: (level, message) => log({ ...NO_RUN, level, message, timeMs: now(), source: "workflow" }),
  });
  return { send, log, core, rejections, guard, nowMs: now, temporal, heartbeat };
}

/** Takes what debug sessions need of the language, before the user's code can change it. */
async function prepareLines(): Promise<void> {
  const [{ LineTracer }, { LineFollower }, { watchProxies }] = await Promise.all([
    import("../executor/tasks/line_trace.ts"),
    import("../executor/tasks/line_follower.ts"),
    import("../executor/program/copied_value.ts"),
  ]);
  watchProxies();
  lineTracing.newTracer = (pathOf) => new LineTracer(lineProbes, pathOf);
  lineTracing.newFollower = (followed, tell) => new LineFollower(lineProbes, followed, tell);
}

/** What programs of `@temporalio/workflow` need; undefined where there are none. */
async function temporalPrograms(restoreFrames: boolean | undefined): Promise<TemporalPrograms | undefined> {
  if (restoreFrames === undefined) return undefined;
  const { TemporalPrograms } = await import("./temporal_programs.ts");
  return new TemporalPrograms(restoreFrames);
}

/** The host's timer functions are taken now. */
function heartbeats(beat: () => void): (everyMs: number) => Heartbeat {
  const { setInterval, clearInterval } = globalThis;
  return (everyMs) => {
    let timer: ReturnType<typeof setInterval> | undefined;
    return {
      start: () => timer ??= setInterval(beat, everyMs),
      stop: () => {
        clearInterval(timer);
        timer = undefined;
      },
    };
  };
}
