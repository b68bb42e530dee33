// Replays histories one after the other, in a new realm or in the kept one.
import type { MessageCodec } from "../../codec/message_codec.ts";
import { fileSources, type SourceHost } from "../../platform/source_files.ts";
import { isNode } from "../../platform/threads.ts";
import type { CommonRealmOptions } from "../../realm/realm.ts";
import { createReplayRealm } from "../../realm/replay_realm.ts";
import type { CompiledValueCheck } from "../../realm/value_check.ts";
import { openWorkerRealm, type WorkerRealm } from "../../realm/worker_realm.ts";
import type { WorkerOptions as NativeOptions } from "../../worker/options.ts";
import type { Logger } from "../common/mod.ts";
import { KeptRealm } from "./kept_realm.ts";
import {
  historyBytes,
  type ReplayHistoriesIterable,
  replayOne,
  type ReplayResult,
} from "./replay.ts";
import type { InjectedSinks } from "./sinks.ts";
import { adaptSinks, workflowLog } from "./worker_log.ts";

/** What differs between the replays of one realm. */
interface Bound {
  readonly logger: Logger;
  /** A name for logs. */
  readonly taskQueue: string;
}

/** The options of a replay, read. */
export interface ReplaySettings extends Bound {
  readonly code:
    & Pick<
      NativeOptions,
      "sources" | "workflowInterceptors" | "payloadConverterModule"
    >
    & { readonly workflows: NonNullable<NativeOptions["workflows"]> };
  readonly codec: MessageCodec | undefined;
  readonly hidesText: boolean;
  readonly values: CompiledValueCheck | undefined;
  // deno-lint-ignore no-explicit-any
  readonly sinks: InjectedSinks<any> | undefined;
  readonly runOptions: NonNullable<CommonRealmOptions["runOptions"]>;
  /** Whether the program depends on more than files: on plugins, or functions of the bundler. */
  readonly hasPlugins: boolean;
}

const keptRealm = new KeptRealm<WorkerRealm, Bound>();

/** Yields a result for each history. */
export async function* replayHistories(
  settings: ReplaySettings,
  histories: ReplayHistoriesIterable,
): AsyncIterableIterator<ReplayResult> {
  const { codec, logger, values } = settings;
  const { realm, end } = await realmFor(settings);
  let isReusable = true;
  try {
    for await (const { history, workflowId } of histories) {
      const bytes = await historyBytes(history);
      const result = await replayOne(realm, workflowId, bytes, codec, logger, values);
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
  settings: ReplaySettings,
): Promise<{ realm: WorkerRealm; end(isReusable: boolean): Promise<void> }> {
  const { sources, ...modules } = settings.code;
  const given = sources as SourceHost | undefined;
  const start = (sources: SourceHost | undefined, bound: { readonly current: Bound }) =>
    startRealm(settings, sources, bound);
  // The user's functions may be others in the next call.
  if (!isNode() || settings.sinks !== undefined || settings.hasPlugins) {
    const realm = await start(given, { current: settings });
    return { realm, end: () => realm.dispose() };
  }
  const { hidesText, runOptions, values } = settings;
  const key = JSON.stringify({
    ...{ modules, hidesText, runOptions },
    comparesValues: values !== undefined,
  });
  const lease = await keptRealm.take(key, given ?? fileSources(), settings, start);
  const { realm } = lease;
  return {
    realm,
    end: (isReusable) => isReusable ? keptRealm.release(lease) : realm.dispose(),
  };
}

function startRealm(
  { code, hidesText, runOptions, sinks, values }: ReplaySettings,
  sources: SourceHost | undefined,
  bound: { readonly current: Bound },
): Promise<WorkerRealm> {
  const { workflows, workflowInterceptors, payloadConverterModule } = code;
  const logger: Pick<Logger, "log"> = { log: (...line) => bound.current.logger.log(...line) };
  // Changed values are reported with their places, which a second realm would have to find.
  const open: typeof openWorkerRealm = values === undefined
    ? (started) => createReplayRealm(openWorkerRealm, started)
    : openWorkerRealm;
  return open({
    workflows: workflows as URL,
    ...(sources !== undefined && { sources }),
    ...(workflowInterceptors !== undefined && { interceptors: workflowInterceptors }),
    sinks: adaptSinks(sinks, logger, hidesText),
    ...(payloadConverterModule !== undefined && { payloadConverter: payloadConverterModule }),
    log: {
      write: (line) =>
        workflowLog(logger, "default", bound.current.taskQueue, hidesText).write(line),
    },
    runOptions,
  });
}
