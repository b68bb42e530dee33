// `temporalex worker`: a worker process for a store or a cluster.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Logger } from "../../../base/logger.ts";
import { hop } from "../../../platform/hop.ts";
import { consoleLogger } from "../../../platform/host.ts";
import { type Rule, RULES } from "../../../modules/lint/rules.ts";
import { WorkflowLoadError } from "../../../realm/mod.ts";
import type { ValueCheck } from "../../../realm/value_check.ts";
import { type ActivityThreads, Worker } from "../../../worker/mod.ts";
import { Exit } from "../../frame/exit.ts";
import { CommandError, UsageError } from "../../frame/errors.ts";
import { loaderHooks } from "../../modules/user_modules.ts";
import { nexusOf } from "../../modules/nexus_services.ts";
import { configuredWorkflows } from "../../modules/workflow_modules.ts";
import { meansCluster } from "../../service/cluster.ts";
import { importCodec } from "../../service/codec.ts";
import { readValuesOptions } from "../../service/values_options.ts";
import { awaitCluster } from "./await_cluster.ts";
import { moduleFiles, notingSources } from "./files.ts";
import type { WorkerCall } from "./options.ts";
import { Reloader } from "./reload.ts";
import { type Connected, openProbes, openService } from "./service.ts";
import { crashNoteOf, deploymentOf, withOptions } from "./settings.ts";
import { printStarted, printWaiting, progressText, reloadText } from "./texts.ts";
import { FileWatch } from "./watch.ts";

/** Time that a shutdown waits for activities that ignore cancellation. */
const FORCE_MS = 10_000;

/** Absolute paths of the worker's modules, and the stamps of their files at load. */
interface Modules {
  readonly workflows: readonly string[];
  readonly activities: readonly string[];
  readonly nexus: readonly string[];
  readonly threads: ActivityThreads | undefined;
  readonly sources: Awaited<ReturnType<typeof notingSources>>;
  readonly workflowFiles: { current: Map<string, string> };
  readonly activityFiles: Map<string, string>;
  readonly nexusFiles: Map<string, string>;
}

type Probes = Awaited<ReturnType<typeof openProbes>>;

export async function workerCommand(call: WorkerCall): Promise<number> {
  const { options, io, print, signal } = call;
  const named = foundModules(call, "workflows", options.workflows);
  const activities = foundModules(call, "activities", options.activities);
  const nexus = foundModules(call, "nexus-services", options.nexusServices);
  if (nexus.length > 0 && !meansCluster(options)) {
    throw new UsageError(
      "--nexus-services is for workers on a cluster, which has the endpoints: name it with --address",
    );
  }
  const workflows = named.length > 0
    ? named
    : activities.length + nexus.length > 0
    ? []
    : configuredWorkflows(io.cwd);
  const values = await valueCheckOf(call);
  const logger = consoleLogger();
  const codec = await importCodec(io.cwd, options.codec);
  const converter = await converterOf(call);
  const probed: { worker?: Worker } = {};
  const probes = await openProbes(call, probed);
  const connected = await openService(call, logger).catch(async (error) => {
    await probes?.close();
    throw error;
  });
  const ending = new AbortController();
  const service = answering(call, connected, AbortSignal.any([signal, ending.signal]));
  try {
    const modules = await readModules(call, workflows, activities, nexus);
    const nexusServices = await nexusOf(io.cwd, nexus, options.payloadConverter);
    const made = { logger, codec, converter, probes, nexusServices };
    const worker = await createWorker(call, modules, { ...connected, service }, made);
    if (worker === undefined) {
      print.result({ event: "stopped" }, () => "stopped\n");
      return Exit.ok;
    }
    probed.worker = worker;
    await work(call, worker, modules, connected, { listening: probes?.address, values });
    print.result({ event: "stopped" }, () => "stopped\n");
    return Exit.ok;
  } finally {
    ending.abort();
    await connected.close();
    await probes?.close();
  }
}

function foundModules({ io }: WorkerCall, kind: string, modules: readonly string[]): string[] {
  return modules.map((module) => {
    const path = resolve(io.cwd, module);
    if (!existsSync(path)) throw new UsageError(`--${kind} ${module}: no such file`);
    return path;
  });
}

/** From --values and --values-rules. */
async function valueCheckOf({ options, io }: WorkerCall): Promise<ValueCheck | undefined> {
  const comparison = await readValuesOptions(options, io.cwd);
  if (comparison === undefined) return undefined;
  if (!options.watch) throw new UsageError("--values needs --watch");
  return { level: options.values!, ...comparison };
}

/** From --payload-converter: the converter for activities, and its module for realms. */
async function converterOf({ options: { payloadConverter }, io: { cwd } }: WorkerCall) {
  if (payloadConverter === undefined) return {};
  const { importConverter } = await import("../../service/converter.ts");
  const converter = await importConverter(cwd, payloadConverter);
  return { converter, payloadConverterModule: pathToFileURL(resolve(cwd, payloadConverter)) };
}

/**
 * Returns the service, after a cluster has confirmed the namespace. Modules are loaded meanwhile.
 */
function answering(
  call: WorkerCall,
  { service, where, namespace }: Connected,
  signal: AbortSignal,
): Connected["service"] | Promise<Connected["service"]> {
  if (where === undefined) return service;
  const answered = awaitCluster({
    service,
    where,
    namespace,
    signal,
    tell: (why) => printWaiting(call, where, namespace, why),
  });
  // Prevents an unhandled rejection if the command ends earlier.
  answered.catch(() => {});
  return answered;
}

async function readModules(
  { options }: WorkerCall,
  workflows: readonly string[],
  activities: readonly string[],
  nexus: readonly string[],
): Promise<Modules> {
  const workflowFiles = { current: new Map<string, string>() };
  const sources = await notingSources((path) => {
    if (!workflowFiles.current.has(path)) {
      workflowFiles.current.set(path, FileWatch.stamps([path]).get(path)!);
    }
  });
  const filesOf = async (modules: readonly string[]) =>
    FileWatch.stamps(options.watch ? await moduleFiles(modules) : []);
  const activityFiles = await filesOf(activities), nexusFiles = await filesOf(nexus);
  const hooks = loaderHooks();
  const threads: ActivityThreads | undefined = activities.length === 0 ? undefined : {
    ...(hooks !== undefined && { hooks }),
    module: activities.map((path) => pathToFileURL(path)),
    ...(options.activityThreads === undefined
      ? { size: 1, concurrency: options.maxActivities }
      : { size: options.activityThreads }),
  };
  return {
    workflows,
    activities,
    nexus,
    threads,
    sources,
    workflowFiles,
    activityFiles,
    nexusFiles,
  };
}

/** Returns undefined if the command was ended while the worker waited for its cluster. */
async function createWorker(
  call: WorkerCall,
  { workflows, threads, sources }: Modules,
  { service, namespace, where }: Omit<Connected, "service"> & {
    service: Connected["service"] | Promise<Connected["service"]>;
  },
  { logger, codec, converter, probes, nexusServices }: {
    logger: Logger;
    nexusServices: Awaited<ReturnType<typeof nexusOf>>;
    codec: Awaited<ReturnType<typeof importCodec>>;
    converter: Awaited<ReturnType<typeof converterOf>>;
    probes: Probes;
  },
): Promise<Worker | undefined> {
  const { options, signal } = call;
  const crashNote = where === undefined || workflows.length === 0
    ? undefined
    : crashNoteOf(call, { address: where, namespace, taskQueue: options.taskQueue }, logger);
  return await Worker.create({
    service,
    logger,
    ...codec,
    ...converter,
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
    ...(workflows.length > 0 &&
      { workflows: workflows.map((path) => pathToFileURL(path)), sources }),
    ...(options.interceptors.length > 0 && {
      workflowInterceptors: options.interceptors.map((path) =>
        pathToFileURL(resolve(call.io.cwd, path))
      ),
    }),
    ...(threads !== undefined && { activityThreads: threads }),
    ...(nexusServices !== undefined && { nexusServices }),
  }).catch((error: Error) => {
    if (
      error instanceof WorkflowLoadError || error instanceof RangeError ||
      /workerDeploymentOptions/.test(error.message) ||
      /threads for activities|exports? no workflow/.test(error.message)
    ) {
      throw new UsageError(withOptions(error.message));
    }
    // Stopped while waiting for its cluster: there is nothing to drain.
    if (signal.aborted && error === signal.reason) return undefined;
    throw error;
  });
}

/** Returns lint errors, without those that the loader reports. */
async function lintErrors({ workflows, sources }: Modules) {
  const { lintWorkflows } = await import("../../../modules/lint/lint.ts");
  const { findings } = await lintWorkflows(workflows.map((path) => pathToFileURL(path)), {
    host: sources,
  });
  return findings.filter(({ rule, severity }) =>
    severity === "error" && !(RULES[rule] as Rule).loader
  );
}

/** Runs until Ctrl-C, or until the worker stops by itself, which throws. */
async function work(
  call: WorkerCall,
  worker: Worker,
  modules: Modules,
  { namespace, where, store, address }: Connected,
  more: { readonly listening: string | undefined; readonly values: ValueCheck | undefined },
): Promise<void> {
  const { options, print, signal } = call;
  const { values } = more;
  const lint = () => lintErrors(modules);
  if (options.watch && modules.workflows.length > 0) {
    for (const { file, line, message, rule } of await lint()) {
      print.warn(`${file}:${line}: ${message} [${rule}]`);
    }
  }
  const running = worker.run();
  running.catch(() => {});
  // Its first polls are sent before it is reported as running.
  await hop();
  const reloader = options.watch
    ? new Reloader({
      worker,
      values,
      workflowFiles: modules.workflowFiles,
      activityModules: modules.activities,
      activityThreads: modules.threads,
      nexusModules: modules.nexus,
      loadNexus: () => nexusOf(call.io.cwd, modules.nexus, options.payloadConverter),
      workflows: modules.workflows.length > 0,
      lint,
      tell: (event) => print.result(event, () => reloadText(event, call)),
      progress: (now) => print.progress(now === undefined ? "" : progressText(now)),
    }, { activities: modules.activityFiles, nexus: modules.nexusFiles })
    : undefined;
  reloader?.start();
  printStarted(call, worker, {
    namespace,
    where,
    store,
    served: await address,
    ...more,
    watched: reloader?.files,
  });
  const stopped = new Promise<void>((resolve) =>
    signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve())
  );
  try {
    await Promise.race([running, stopped]);
  } catch (error) {
    throw new CommandError((error as Error).message, { cause: error });
  } finally {
    await reloader?.close();
    if (signal.aborted) {
      print.note("stopping after the running tasks; press Ctrl-C again to stop now");
    }
    await worker.shutdown();
  }
}
