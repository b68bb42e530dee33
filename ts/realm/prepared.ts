// A realm that is ready except for its modules: it has saved what it needs from the host, started
// the core and installed the guard. A host can prepare it before the modules are known.
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

/** Source of log lines outside of runs. */
export const NO_RUN = { workflowType: "", workflowId: "", runId: "", fields: {} };

export interface PreparedRealm {
  readonly send: (message: FromRealm, transfer?: readonly object[]) => void;
  readonly log: (entry: LogEntry) => void;
  readonly core: WorkerCore;
  readonly rejections: RejectionHost;
  readonly guard: Guard;
  /** The host's clock, which the guard replaces. */
  readonly nowMs: () => number;
  /** For `@temporalio/workflow` programs; undefined if the modules are known to have none. */
  readonly temporal: TemporalPrograms | undefined;
  /** Starts to send a sign of life periodically. */
  readonly heartbeat: (everyMs: number) => Heartbeat;
}

export interface Heartbeat {
  start(): void;
  stop(): void;
}

/** Prepares a realm for known modules. */
export function prepared(
  port: HostPort,
  { core, graph }: InitMessage,
  own: Pick<Wanted, "core">,
): Promise<PreparedRealm> {
  return prepare(port, {
    core: core ?? own.core,
    hasLines: graph?.modules.some(({ probes }) => probes !== undefined) === true,
    temporal: graph?.needsTemporal === true ? graph.restoreFrames : undefined,
  });
}

/**
 * Prepares a realm for modules that arrive later: they may have probes, and be of either dialect
 * with rewritten scopes. Then runs `work`.
 */
export async function preparedEarly(
  port: HostPort,
  core: Promise<WebAssembly.Module>,
  work: (core: WorkerCore) => Promise<void>,
): Promise<PreparedRealm> {
  const made = await prepare(port, { core, hasLines: true, temporal: true });
  // Failures are ignored: the guard cannot be undone.
  await work(made.core).catch(() => {});
  return made;
}

interface Wanted {
  readonly core?: WebAssembly.Module | Promise<WebAssembly.Module> | undefined;
  readonly hasLines: boolean;
  /**
   * Whether scopes of `@temporalio/workflow` programs are rewritten; undefined without such
   * programs.
   */
  readonly temporal: boolean | undefined;
}

async function prepare(port: HostPort, wanted: Wanted): Promise<PreparedRealm> {
  const send = (message: FromRealm, transfer?: readonly object[]) => port.post(message, transfer);
  const log = (entry: LogEntry) => {
    send({ t: "log", entry: { ...entry, fields: sendableFields(entry.fields) } });
  };
  const { now } = Date;
  const stray = (reason: unknown) => {
    const message = `a promise outside of all workflow tasks was rejected: ${formatArgs([reason])}`;
    log({ ...NO_RUN, level: "error", message, timeMs: 0, source: "executor" });
  };
  const rejections = captureRejections({ ownThread: true, stray });
  const heartbeat = heartbeats(() => send({ t: "alive" }));
  if (wanted.core === undefined) {
    throw new Error("the realm has no core: neither its host nor its entry file provides one");
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

/** Saves what debug sessions need from the language before user code can change it. */
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

/** Returns what `@temporalio/workflow` programs need; undefined without such programs. */
async function temporalPrograms(
  restoreFrames: boolean | undefined,
): Promise<TemporalPrograms | undefined> {
  if (restoreFrames === undefined) return undefined;
  const { TemporalPrograms } = await import("./temporal_programs.ts");
  return new TemporalPrograms(restoreFrames);
}

/** Saves the host's timer functions. */
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
