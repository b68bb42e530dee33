// Replays histories one after the other, in a realm of their own or in the kept one.
import { MessageCodec } from "../../codec/message_codec.ts";
import { fileSources, type SourceHost } from "../../platform/source_files.ts";
import { isNode } from "../../platform/threads.ts";
import { createReplayRealm } from "../../realm/replay_realm.ts";
import { readValueCheck } from "../../realm/value_check.ts";
import { openWorkerRealm, type WorkerRealm } from "../../realm/worker_realm.ts";
import { VERSION } from "../../base/version.ts";
import { importDataConverter } from "../client/load_data_converter.ts";
import { encodesErrorText } from "../common/data_converter.ts";
import type { Logger } from "../common/mod.ts";
import { defaultIdentity } from "./host.ts";
import { KeptRealm } from "./kept_realm.ts";
import { converters, failureErrorTypes } from "./native_options.ts";
import {
  historyBytes,
  type ReplayHistoriesIterable,
  replayOne,
  type ReplayResult,
} from "./replay.ts";
import { Runtime } from "./runtime.ts";
import { adaptSinks, workflowLog } from "./worker_log.ts";
import type { ReplayWorkerOptions } from "./worker_options.ts";
import { type WorkflowCode, workflowCode } from "./workflow_code.ts";

/** What differs between the replays of one realm. */
interface Bound {
  readonly logger: Logger;
  readonly taskQueue: string;
}

const keptRealm = new KeptRealm<WorkerRealm, Bound>();

/** What the realm of a replay is started with. */
interface RealmWanted {
  readonly options: ReplayWorkerOptions;
  readonly code: WorkflowCode;
  readonly hidesText: boolean;
  /** Whether commands are compared by value, too. */
  readonly comparesValues: boolean;
}

/** Yields a result for each history. `taskQueue` is a name for logs. */
export async function* replayHistories(
  options: ReplayWorkerOptions,
  taskQueue: string,
  histories: ReplayHistoriesIterable,
): AsyncIterableIterator<ReplayResult> {
  const values = readValueCheck(options.values, "ReplayWorkerOptions.values");
  const { logger } = Runtime.instance();
  const code = workflowCode(options, logger);
  if (code.workflows === undefined) {
    throw new TypeError("ReplayWorkerOptions must contain workflowsPath or workflowBundle");
  }
  const dataConverter = await importDataConverter(options.dataConverter);
  const messages = MessageCodec.of(converters(dataConverter));
  const hidesText = encodesErrorText(dataConverter);
  const wanted = { options, code, hidesText, comparesValues: values !== undefined };
  const { realm, end } = await realmFor(wanted, { logger, taskQueue });
  let isReusable = true;
  try {
    for await (const { history, workflowId } of histories) {
      const bytes = await historyBytes(history);
      const result = await replayOne(realm, workflowId, bytes, messages, logger, values);
      // A workflow that looped or took its thread down leaves a quarantine behind.
      if (result.error?.name === "ReplayError") isReusable = false;
      yield result;
    }
  } catch (error) {
    isReusable = false;
    throw error;
  } finally {
    await end(isReusable);
  }
}

/** Returns a realm, and what to call after its last replay. */
async function realmFor(
  wanted: RealmWanted,
  bound: Bound,
): Promise<{ realm: WorkerRealm; end(isReusable: boolean): Promise<void> }> {
  const { options, code } = wanted;
  const start = (sources: SourceHost | undefined, bound: { readonly current: Bound }) =>
    startRealm(wanted, sources, bound);
  // The user's functions may be others in the next call, and may depend on more than files.
  const isKept = isNode() && options.sinks === undefined && (options.plugins ?? []).length === 0 &&
    options.bundlerOptions?.webpackConfigHook === undefined;
  if (!isKept) {
    const realm = await start(code.sources as SourceHost | undefined, { current: bound });
    return { realm, end: () => realm.dispose() };
  }
  const { sources: _, ...modules } = code;
  const key = JSON.stringify([
    modules,
    wanted.hidesText,
    wanted.comparesValues,
    runSettings(options),
  ]);
  const host = (code.sources as SourceHost | undefined) ?? fileSources();
  const lease = await keptRealm.take(key, host, bound, start);
  const { realm } = lease;
  return {
    realm,
    end: (isReusable) => isReusable ? keptRealm.release(lease) : realm.dispose(),
  };
}

const runSettings = (options: ReplayWorkerOptions) => ({
  namespace: "default",
  identity: options.identity ?? defaultIdentity(),
  ...{ sdkVersion: VERSION, ...failureErrorTypes(options) },
});

function startRealm(
  { options, code, hidesText, comparesValues }: RealmWanted,
  sources: SourceHost | undefined,
  bound: { readonly current: Bound },
): Promise<WorkerRealm> {
  const { workflows, workflowInterceptors, payloadConverterModule } = code;
  const logger: Pick<Logger, "log"> = { log: (...line) => bound.current.logger.log(...line) };
  // Changed values are reported with their places, which a second realm would have to find.
  const open: typeof openWorkerRealm = comparesValues
    ? openWorkerRealm
    : (started) => createReplayRealm(openWorkerRealm, started);
  return open({
    workflows: workflows as URL,
    ...(sources !== undefined && { sources }),
    ...(workflowInterceptors !== undefined && { interceptors: workflowInterceptors }),
    sinks: adaptSinks(options.sinks, logger, hidesText),
    ...(payloadConverterModule !== undefined && { payloadConverter: payloadConverterModule }),
    log: {
      write: (line) =>
        workflowLog(logger, "default", bound.current.taskQueue, hidesText).write(line),
    },
    runOptions: runSettings(options),
  });
}
