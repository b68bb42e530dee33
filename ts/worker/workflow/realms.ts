// Creates the realm of a worker from its options, and connects it to the service and the log.
import { create, toBinary } from "@bufbuild/protobuf";
import { fileSources, fileUrl, hasFiles } from "../../platform/source_files.ts";
import { isBundle } from "../../modules/bundle/format.ts";
import { createInlineRealm, type InlineRealmOptions } from "../../realm/inline_realm.ts";
import { formatProblem } from "../../modules/loader/errors.ts";
import type { CommonRealmOptions, Realm } from "../../realm/realm.ts";
import {
  MAX_REALM_THREADS,
  openWorkerRealm,
  type WorkerRealmOptions,
} from "../../realm/worker_realm.ts";
import type { InjectedSinks } from "../../realm/sinks.ts";
import type { MessageCodec } from "../../codec/message_codec.ts";
import { decodeForRun } from "../../codec/coded_service.ts";
import type { Logger } from "../../base/logger.ts";
import { realTimers } from "../../base/timers.ts";
import type { RawService } from "../../service/raw.ts";
import { VERSION } from "../../base/version.ts";
import {
  GetWorkflowExecutionHistoryRequestSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import {
  DataBlob,
  GetWorkflowExecutionHistoryResponse as Answer,
} from "../../messages/generated/fields.ts";
import { concat, Fields, readBytes } from "../../messages/wire.ts";
import type { WorkerDeploymentVersion } from "../deployment.ts";
import { readServerInfo } from "../../api/server_info.ts";
import type { WorkerSettings } from "../options.ts";
import { report } from "./reports.ts";
import { workflowMetrics } from "../metrics/workflow_metrics.ts";

/** Workflow code: modules by path or URL, or loaded definitions. */
export type Workflows = WorkerRealmOptions["workflows"] | InlineRealmOptions["workflows"];

/** Where a worker's workflow code is and runs. */
export interface RealmSettings {
  /**
   * The modules that define the workflows (realm in a thread), or a module's namespace or
   * definitions (inline realm).
   */
  workflows?: Workflows;
  /**
   * "worker" runs workflow code in a thread, with the determinism guard and a watchdog (default for
   * modules). "inline" runs it in this thread, for unit tests (default for definitions). A Realm
   * object is used as is.
   */
  realm?: "worker" | "inline" | Realm;
  /**
   * For bundled applications: the URL of a bundle that calls serveRealm with its workflows, or a
   * function that makes a Worker from it. Replaces `workflows`.
   */
  realmEntry?: WorkerRealmOptions["entry"];
  /**
   * Sources of the workflow modules by path, for runtimes without files (browsers; requires eval),
   * or a host.
   */
  sources?: WorkerRealmOptions["sources"];
  /**
   * A module that exports `payloadConverter`, for realms in threads: the converter of the worker.
   */
  payloadConverterModule?: string | URL;
  /**
   * Modules that export `interceptors` for programs of `@temporalio/workflow`, for realms in
   * threads. The first module is the outermost.
   */
  workflowInterceptors?: string | URL | readonly (string | URL)[];
  /** Functions that programs of `@temporalio/workflow` call by `proxySinks()`, by sink and name. */
  sinks?: InjectedSinks;
  /**
   * Time after which a workflow that does not yield is stopped with its thread, in ms; 0: never.
   * Default: 2000.
   */
  watchdogMs?: number;
  /**
   * Threads among which runs are divided by run id, for workflow code that keeps a core busy. Each
   * loads the modules and has its share of `cachedWorkflows`; a failure in one does not stop the
   * others. From 1 to 64. Default: 1.
   */
  workflowThreads?: number;
  /**
   * @internal Names of error classes that fail a run of `@temporalio/workflow` instead of its task,
   * by workflow type; "*": of all types.
   */
  failureErrorTypes?: { readonly [workflowType: string]: readonly string[] };
  /** @internal Called when a thread has its start message and this thread would wait for it. */
  realmStarting?: () => void;
}

/** True for names of modules, false for loaded code. */
function namesModules(workflows: Workflows): workflows is WorkerRealmOptions["workflows"] {
  const first = Array.isArray(workflows) ? workflows[0] : workflows;
  return typeof first === "string" || first instanceof URL;
}

/**
 * The version of the worker, if histories will contain it: workflow code that branches on it needs
 * the same value on replay. The embedded engine does not write versions.
 */
async function recordedVersion(
  { deployment, service }: WorkerSettings,
): Promise<WorkerDeploymentVersion | undefined> {
  if (deployment === undefined || !deployment.isRecorded) return undefined;
  const { capabilities } = readServerInfo(await service.call("getSystemInfo", new Uint8Array(0)));
  return capabilities.buildIdBasedVersioning === true ? deployment.version : undefined;
}

/** Opens the realm for the options; undefined for a worker without workflows. */
export async function openRealm(
  options: RealmSettings,
  settings: WorkerSettings,
  stickyQueue: string,
): Promise<Realm | undefined> {
  const { workflows, realm, realmEntry, workflowThreads = 1 } = options;
  if (
    !Number.isInteger(workflowThreads) || workflowThreads < 1 || workflowThreads > MAX_REALM_THREADS
  ) {
    throw new RangeError(
      `the worker's workflowThreads must be a whole number from 1 to ${MAX_REALM_THREADS}, not ${workflowThreads}`,
    );
  }
  if (
    workflowThreads > 1 &&
    (realm !== undefined && realm !== "worker" ||
      workflows !== undefined && !namesModules(workflows))
  ) {
    throw new TypeError(
      "workflowThreads is for realms in threads, which load their workflows themselves: name the modules that define them",
    );
  }
  if (typeof realm === "object") {
    if (workflows !== undefined) {
      throw new TypeError("a worker needs either a realm or workflows, not both");
    }
    return realm;
  }
  if (workflows === undefined && realmEntry === undefined) {
    if (realm !== undefined) throw new TypeError(`a worker with an ${realm} realm needs workflows`);
    return undefined;
  }
  const common: CommonRealmOptions = {
    cacheSize: settings.cachedWorkflows,
    runOptions: {
      namespace: settings.namespace,
      identity: settings.identity,
      sdkVersion: VERSION,
      workerVersion: await recordedVersion(settings),
      stickyQueue,
      runsReducers: settings.service.runsReducers === true,
      // Values that a codec encodes must not appear unencoded in a table.
      shows: settings.codec === undefined ? "all" : "phase",
      keepsShown: settings.service.showsRuns === true,
      stickyScheduleToStartTimeoutMs: settings.stickyScheduleToStartTimeoutMs,
      failureErrorTypes: options.failureErrorTypes,
    },
    fetchHistory: async (workflowId, runId, token) => {
      const page = await settings.taskWaits.around(
        runId,
        () => fetchPage(settings, workflowId, runId, token),
      );
      settings.tracing?.page(runId, token, page.history);
      return page;
    },
    log: settings.workflowLog ?? workflowLog(settings.logger, settings.codec?.hidesText === true),
  };
  if (
    realmEntry !== undefined &&
    (realm === "inline" || (workflows !== undefined && !namesModules(workflows)))
  ) {
    throw new TypeError(
      "realmEntry is for realms in threads, which load their workflows themselves; leave it out, or the definitions",
    );
  }
  if (workflows === undefined || namesModules(workflows)) {
    if (realm === "inline") return await inlineFromModules(workflows!, common, settings);
    return await inThread(workflows, common, options, settings);
  }
  if (realm === "worker") {
    throw new TypeError(
      "a realm in a thread loads its workflows itself: give the URL of their module, not the definitions",
    );
  }
  return await createInlineRealm({
    ...common,
    workflows: workflows as InlineRealmOptions["workflows"],
    converter: settings.converter,
  });
}

async function inlineFromModules(
  workflows: NonNullable<WorkerRealmOptions["workflows"]>,
  common: CommonRealmOptions,
  settings: WorkerSettings,
): Promise<Realm> {
  const list = (Array.isArray(workflows) ? workflows : [workflows]) as readonly (string | URL)[];
  const modules = await Promise.all(list.map(async (module) => {
    const url = fileUrl(module);
    const text = hasFiles() ? fileSources().read(url) : undefined;
    if (text !== undefined && isBundle(text)) {
      throw new TypeError(
        `${url} is a workflow bundle, which a realm in a thread loads: leave out realm: "inline"`,
      );
    }
    return await import(url) as { [name: string]: unknown };
  }));
  return await createInlineRealm({ ...common, workflows: modules, converter: settings.converter });
}

async function inThread(
  workflows: WorkerRealmOptions["workflows"],
  common: CommonRealmOptions,
  options: RealmSettings,
  settings: WorkerSettings,
): Promise<Realm> {
  const realm = await openWorkerRealm({
    ...common,
    ...(workflows !== undefined && { workflows }),
    ...(options.sources !== undefined && { sources: options.sources }),
    ...(options.realmEntry !== undefined && { entry: options.realmEntry }),
    ...(options.payloadConverterModule !== undefined &&
      { payloadConverter: options.payloadConverterModule }),
    ...(options.workflowInterceptors !== undefined &&
      { interceptors: options.workflowInterceptors }),
    sinks: {
      ...(settings.measured && workflowMetrics(settings.measured, settings)),
      ...options.sinks,
    },
    ...(options.watchdogMs !== undefined && { watchdogMs: options.watchdogMs }),
    ...(options.workflowThreads !== undefined && { threads: options.workflowThreads }),
    ...(options.realmStarting !== undefined && { onStarting: options.realmStarting }),
  });
  for (const warning of realm.warnings) settings.logger.warn(formatProblem(warning));
  return realm;
}

/**
 * Log lines of workflow code. Their time is workflow time. The executor's lines quote errors of
 * workflow code in the field `error`, and in all fields of error lines; encodeCommonAttributes
 * removes them.
 */
function workflowLog(logger: Logger, hidesText: boolean): NonNullable<CommonRealmOptions["log"]> {
  return {
    write({ level, message, fields, timeMs, workflowType, workflowId, runId, source }) {
      logger[level](message, {
        ...(hidesText && source === "executor" ? withoutQuotes(level, fields) : fields),
        workflowType,
        workflowId,
        runId,
        workflowTime: new Date(timeMs).toISOString(),
      });
    },
  };
}

/** Returns the fields of an executor's line without those that may quote workflow code. */
export function withoutQuotes(
  level: string,
  fields: { readonly [name: string]: unknown } | undefined,
): object {
  const { error: _, ...rest } = level === "error" ? {} : fields ?? {};
  return rest;
}

/** Fetches an encoded page of history for the core. */
export async function fetchPage(
  settings: {
    service: RawService;
    codec: MessageCodec | undefined;
    namespace: string;
    logger: Logger;
  },
  workflowId: string,
  runId: string,
  token: Uint8Array,
) {
  const fields = {
    namespace: settings.namespace,
    execution: { workflowId, runId },
    nextPageToken: token,
  };
  const request = toBinary(
    GetWorkflowExecutionHistoryRequestSchema,
    create(GetWorkflowExecutionHistoryRequestSchema, fields),
  );
  const method = "getWorkflowExecutionHistory";
  const response = await report({ ...settings, timers: realTimers }, method, request);
  return readHistoryPage(
    settings.codec === undefined ? response : await decodeForRun(settings.codec, method, response),
  );
}

/**
 * Reads history (or the blobs of `raw_history`) and token from a
 * GetWorkflowExecutionHistoryResponse.
 */
export function readHistoryPage(
  response: Uint8Array,
): { history: Uint8Array; nextPageToken: Uint8Array } {
  const parts: Uint8Array[] = [];
  let nextPageToken: Uint8Array = new Uint8Array(0);
  for (const at = new Fields(response); at.next();) {
    if (at.tag === Answer.history) parts.push(at.bytes());
    else if (at.tag === Answer.rawHistory) {
      parts.push(readBytes(at.bytes(), DataBlob.data) ?? new Uint8Array(0));
    } else if (at.tag === Answer.nextPageToken) nextPageToken = at.bytes();
  }
  return { history: concat(parts), nextPageToken };
}
