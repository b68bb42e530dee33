// Types of the engine's options.
import * as kind from "../base/option_kinds.ts";
import type { EmbeddedEngineOptions, EngineLimits } from "./options.ts";

const LIMITS: kind.Table<EngineLimits> = {
  ...{
    openRuns: kind.count,
    inbox: kind.count,
    updatesInFlight: kind.count,
    updates: kind.count,
    cachedRuns: kind.count,
  },
  ...{
    payloadBytes: kind.count,
    suggestContinueAsNewEvents: kind.count,
    suggestContinueAsNewBytes: kind.count,
  },
  ...{ suggestContinueAsNewUpdates: kind.count, historyEvents: kind.count },
};

/** The type of each option of `EmbeddedEngine.open`. */
export const ENGINE_OPTIONS: kind.Table<EmbeddedEngineOptions> = {
  ...{
    path: kind.text,
    store: kind.object,
    synchronous: kind.oneOf("FULL", "NORMAL"),
    driver: kind.text,
    visit: kind.flag,
  },
  ...{
    namespace: kind.name,
    clock: ["a clock", kind.has("nowMs")],
    limits: LIMITS,
    timers: kind.oneOf("due", "manual"),
  },
  ...{
    remoteWorkers: kind.flag,
    reducers: kind.functions,
    functions: kind.functions,
    reducing: kind.any,
    isReadOnly: kind.flag,
    nexus: kind.any,
    workflows: kind.call,
    migrations: kind.migrations,
  },
  ...{
    converter: kind.converter,
    codec: kind.codec,
    encodeCommonAttributes: kind.flag,
    core: kind.any,
  },
  ...{ onError: kind.call, onActivityTimeout: kind.call },
};

/** Throws a TypeError with the option, its value, and what is expected. */
export function checkEngineOptions(options: EmbeddedEngineOptions): void {
  kind.checkOptions("EmbeddedEngine.open", options, ENGINE_OPTIONS);
  if ((options.path === undefined) === (options.store === undefined)) {
    throw new TypeError(
      "an engine needs either the path of its SQLite file or a store (new MemoryStore() for tests)",
    );
  }
}
