// `temporalex worker`: a worker as a process, on a store of its own or on a cluster.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { DeferredServer } from "../../../app/deferred_server.ts";
import { EmbeddedEngine } from "../../../engine/mod.ts";
import { hop } from "../../../platform/hop.ts";
import { consoleLogger } from "../../../platform/host.ts";
import { type Rule, RULES } from "../../../realm/lint/rules.ts";
import { type VersioningBehavior, WorkflowLoadError } from "../../../realm/mod.ts";
import type { Logger } from "../../../base/logger.ts";
import type { RawService } from "../../../service/raw.ts";
import { serveProbes } from "../../../server/probes.ts";
import {
  type ActivityThreads,
  describeProblem,
  type ReplacementProgress,
  Worker,
  type WorkerOptions,
} from "../../../worker/mod.ts";
import { Exit } from "../../frame/command.ts";
import { CommandError } from "../../frame/errors.ts";
import { printable } from "../../frame/printable.ts";
import { UsageError } from "../../io.ts";
import { meansCluster, openCluster } from "../../service/cluster.ts";
import { importCodec } from "../../service/codec.ts";
import { keepFor } from "../../../engine/retention.ts";
import { warnOfTimeouts } from "../../../engine/timed_out.ts";
import { configuredWorkflows } from "../../modules/workflow_modules.ts";
import { storePath } from "../../service/open_service.ts";
import type { WorkerCall } from "./options.ts";
import { loaderHooks } from "../../modules/user_modules.ts";
import { awaitCluster } from "./await_cluster.ts";
import { crashNoteIn, stateFolder, type Work } from "./crash_notes.ts";
import { moduleFiles, notingSources } from "./files.ts";
import { Reloader, type ReloadEvent } from "./reload.ts";
import { FileWatch } from "./watch.ts";

/** How long a stop waits for activities that do not listen. */
const FORCE_MS = 10_000;

export async function workerCommand(call: WorkerCall): Promise<number> {
  const { options, io, print, signal } = call;
  const found = (kind: string, modules: readonly string[]) =>
    modules.map((module) => {
      const path = resolve(io.cwd, module);
      if (!existsSync(path)) throw new UsageError(`--${kind} ${module}: there is no such file`);
      return path;
    });
  const named = found("workflows", options.workflows);
  const activities = found("activities", options.activities);
  const workflows = named.length > 0 ? named : activities.length > 0 ? [] : configuredWorkflows(io.cwd);
  const logger = consoleLogger();
  const codec = await importCodec(io.cwd, options.codec);
  const probed: { worker?: Worker } = {};
  const probes = await openProbes(call, probed);
  const { service, namespace, where, address, close } = await openService(call, logger).catch(async (error) => {
    await probes?.close();
    throw error;
  });
  const ending = new AbortController();
  // The modules are loaded while the cluster is asked.
  const answered = where === undefined ? service : awaitCluster({
    service,
    where,
    namespace,
    signal: AbortSignal.any([signal, ending.signal]),
    tell: (why) =>
      print.result(
        { event: "waiting", address: where, namespace, ...(why !== "" && { why }) },
        () =>
          `waiting for the Temporal cluster at ${where}, namespace "${namespace}"${
            why === "" ? "" : `: ${printable(why)}`
          }; Ctrl-C ends\n`,
      ),
  });
  // Something else may end the command first.
  if (answered instanceof Promise) answered.catch(() => {});
  try {
    const crashNote = where === undefined || workflows.length === 0
      ? undefined
      : crashNoteOf(call, { address: where, namespace, taskQueue: options.taskQueue }, logger);
    const workflowFiles = { current: new Map<string, string>() };
    const sources = await notingSources((path) => {
      if (!workflowFiles.current.has(path)) workflowFiles.current.set(path, FileWatch.stamps([path]).get(path)!);
    });
    const activityFiles = FileWatch.stamps(options.watch ? await moduleFiles(activities) : []);
    const hooks = loaderHooks();
    const threads: ActivityThreads | undefined = activities.length === 0 ? undefined : {
      ...(hooks !== undefined && { hooks }),
      module: activities.map((path) => pathToFileURL(path)),
      ...(options.activityThreads === undefined
        ? { size: 1, concurrency: options.maxActivities }
        : { size: options.activityThreads }),
    };
    const worker = await Worker.create({
      service: answered,
      logger,
      ...codec,
      taskQueue: options.taskQueue,
      namespace,
      shutdownGraceMs: options.grace,
      shutdownForceMs: FORCE_MS,
      maxConcurrentActivities: options.maxActivities,
      maxConcurrentWorkflowTasks: options.maxWorkflowTasks,
      ...(workflows.length > 0 && { workflowThreads: options.workflowThreads }),
      ...deploymentOf(call),
      ...(options.identity !== undefined && { identity: options.identity }),
      ...(crashNote !== undefined && { crashNote }),
      ...(probes !== undefined && { metrics: probes.metrics }),
      ...(workflows.length > 0 && { workflows: workflows.map((path) => pathToFileURL(path)), sources }),
      ...(threads !== undefined && { activityThreads: threads }),
    }).catch((error: Error) => {
      if (
        error instanceof WorkflowLoadError || error instanceof RangeError || /workerDeploymentOptions/.test(error.message) ||
        /threads for activities/.test(error.message)
      ) {
        throw new UsageError(error.message);
      }
      // Stopped while it waited for its cluster: there was nothing to drain.
      if (signal.aborted && error === signal.reason) return undefined;
      throw error;
    });
    if (worker === undefined) {
      print.result({ event: "stopped" }, () => "stopped\n");
      return Exit.ok;
    }
    probed.worker = worker;
    // What the loader refuses, the load itself tells.
    const lint = async () => {
      const { lintWorkflows, OfficialSdkError } = await import("../../../realm/lint/lint.ts");
      const { findings } = await lintWorkflows(workflows.map((path) => pathToFileURL(path)), { host: sources }).catch((e) => {
        // Its rules are not for programs of the official SDK.
        if (e instanceof OfficialSdkError) return { findings: [] };
        throw e;
      });
      return findings.filter(({ rule, severity }) => severity === "error" && !(RULES[rule] as Rule).loader);
    };
    if (options.watch && workflows.length > 0) {
      for (const { file, line, message, rule } of await lint()) print.warn(`${file}:${line}: ${message} [${rule}]`);
    }
    const { workflowTypes, activityTypes, taskQueue } = worker;
    const running = worker.run();
    running.catch(() => {});
    // Its first polls leave before anybody is told that it works.
    await hop();
    const reloader = options.watch
      ? new Reloader({
        worker,
        workflowFiles,
        activityModules: activities,
        activityThreads: threads,
        workflows: workflows.length > 0,
        lint,
        tell: (event) => print.result(event, () => textOf(event, call)),
        progress: (now) => print.progress(now === undefined ? "" : progressText(now)),
      }, activityFiles)
      : undefined;
    reloader?.start();
    const served = await address;
    const started = { event: "started", taskQueue, workflowTypes, activityTypes, watching: reloader?.files ?? 0 };
    const at = where === undefined ? "" : ` of ${where}, namespace "${namespace}"`;
    print.result(
      {
        ...started,
        ...(where !== undefined && { address: where, namespace }),
        ...(served !== undefined && { served }),
        ...(probes !== undefined && { listening: probes.address }),
      },
      () =>
        `working on task queue "${taskQueue}"${at}${reloader === undefined ? "" : `, watching ${reloader.files} files`}\n` +
        (workflowTypes.length > 0 ? `  workflows:  ${workflowTypes.join(", ")}\n` : "") +
        (activityTypes.length > 0
          ? `  activities: ${activityTypes.join(", ")}\n`
          : "  activities: none; what workflows call waits for a worker with --activities\n") +
        (probes === undefined ? "" : `  probes:     http://${probes.address}/healthz, /readyz, /metrics\n`),
    );
    const stopped = new Promise<void>((resolve) =>
      signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve())
    );
    try {
      await Promise.race([running, stopped]);
    } catch (error) {
      throw new CommandError((error as Error).message, { cause: error });
    } finally {
      await reloader?.close();
      if (signal.aborted) print.note("stopping: tasks in work are finished; Ctrl-C again ends at once");
      await worker.shutdown();
    }
    print.result({ event: "stopped" }, () => "stopped\n");
    return Exit.ok;
  } finally {
    ending.abort();
    await close();
    await probes?.close();
  }
}

/** From --listen: served from before the cluster is asked for anything, so that a worker that waits for it is not taken for a dead one. */
async function openProbes({ options: { listen } }: WorkerCall, probed: { worker?: Worker }) {
  if (listen === undefined) return undefined;
  const { MetricsRegistry } = await import("../../../metrics/mod.ts");
  const metrics = new MetricsRegistry();
  const worker = {
    get state() {
      return probed.worker?.state ?? "starting";
    },
    get ready() {
      return probed.worker?.ready ?? false;
    },
  };
  const { address, close } = await serveProbes({ listen, worker, metrics }).catch((error: Error) => {
    throw error instanceof TypeError
      ? new UsageError(`--listen: ${error.message}`)
      : new CommandError(error.message, { cause: error });
  });
  return { metrics, address, close };
}

/** From --crash-notes: the file of this process. What was not asked for fails without a word to users. */
function crashNoteOf({ options: { crashNotes }, io }: WorkerCall, work: Work, logger: Logger): string | undefined {
  if (crashNotes === "none") return undefined;
  const folder = crashNotes === undefined ? stateFolder(io.env) : resolve(io.cwd, crashNotes);
  try {
    return folder && crashNoteIn(folder, work);
  } catch (error) {
    const { message } = error as Error;
    if (crashNotes !== undefined) throw new UsageError(`--crash-notes ${crashNotes} cannot be used: ${message}`);
    logger.debug("the runs in work are not noted for the next start", { folder, error: message });
    return undefined;
  }
}

/** From --deployment and --versioning-behavior. */
function deploymentOf(
  { options: { deployment, versioningBehavior } }: WorkerCall,
): Pick<WorkerOptions, "workerDeploymentOptions"> {
  if (deployment === undefined) {
    if (versioningBehavior !== undefined) throw new UsageError("--versioning-behavior says nothing without --deployment");
    return {};
  }
  const at = deployment.indexOf(".");
  if (at <= 0 || at === deployment.length - 1) {
    throw new UsageError(`--deployment ${deployment}: give a deployment's name and a build, with a dot between them: shop.v7`);
  }
  const version = { deploymentName: deployment.slice(0, at), buildId: deployment.slice(at + 1) };
  const defaultVersioningBehavior = versioningBehavior as VersioningBehavior | undefined;
  return { workerDeploymentOptions: { useWorkerVersioning: true, version, defaultVersioningBehavior } };
}

interface Connected {
  readonly service: RawService;
  readonly namespace: string;
  /** The address of a cluster; undefined for a store. */
  readonly where?: string;
  /** Where other processes reach the store. */
  readonly address?: Promise<string | undefined>;
  close(): Promise<void>;
}

async function openService(call: WorkerCall, logger: Logger): Promise<Connected> {
  const { options, given } = call;
  if (meansCluster(options)) {
    if (given.has("store")) throw new UsageError("--store and --address contradict each other: name a store or a cluster");
    if (options.retention !== undefined) {
      throw new UsageError("--retention is for stores; how long a cluster keeps closed workflows is a setting of its namespace");
    }
    return await openCluster(call);
  }
  if (options.crashNotes !== undefined) {
    throw new UsageError("--crash-notes is for workers on a cluster; a worker on a store notes the same beside it, always");
  }
  const engine = await EmbeddedEngine.open({
    path: storePath(call),
    namespace: options.namespace,
    onError: (error) => logger.error("the engine met a failure", { error }),
    onActivityTimeout: warnOfTimeouts(logger),
  });
  const served = new DeferredServer(engine, true, logger);
  const stop = options.retention === undefined ? () => {} : keepFor(options.retention, engine, logger);
  // The engine's end answers the calls that wait; the server passes that on before it closes.
  const close = () => Promise.resolve(stop()).then(() => served.retire()).then(() => engine.close()).then(() => served.close());
  return { service: engine, namespace: options.namespace, address: served.address, close };
}

function progressText({ phase, checked, total }: ReplacementProgress): string {
  if (phase === "load") return "loading the changed workflows ...";
  return phase === "check"
    ? `replaying open runs: ${checked} of ${total}`
    : `switching over (${checked} of ${total} that moved on)`;
}

function textOf(event: ReloadEvent, { print, io }: WorkerCall): string {
  const at = print.paint(new Date().toISOString().slice(11, 19), "dim");
  const folder = `${resolve(io.cwd)}/`;
  // Engines name a method of an object in their own way: "Object.eval [as run]" is run.
  const short = (text: string) =>
    text.replaceAll(`file://${folder}`, "").replaceAll(folder, "").replace(/\b(?:Object\.)?eval \[as (\w+)\]/g, "$1");
  switch (event.event) {
    case "replaced": {
      const { checkedRuns, pausedMs, broken, ms, workflowTypes } = event;
      const runs = checkedRuns === 1 ? "1 open run agreed" : `${checkedRuns} replays of open runs agreed`;
      const head = `${at} ${print.paint("live", "green")}: the changed workflows (${
        workflowTypes.join(", ")
      }); ${runs}, ${ms} ms, tasks waited ${pausedMs} ms\n`;
      if (broken.length === 0) return head;
      return `${head}  runs that the old code does not replay either:\n${short(broken.map(describeProblem).join("\n"))}\n`;
    }
    case "activitiesReplaced":
      return `${at} ${print.paint("live", "green")}: the changed activities (${event.activities.join(", ")}), ${event.ms} ms\n`;
    case "refused":
      return `${at} ${print.paint("refused", "red")}: ${short(event.message)}\n`;
  }
}
