// Options of open() and their validation, before anything is opened.
import * as kind from "../base/option_kinds.ts";
import type { ClientOptions } from "../client/mod.ts";
import type { CodecOptions } from "../codec/codec.ts";
import type { EmbeddedEngineOptions } from "../engine/options.ts";
import type { Logger } from "../base/logger.ts";
import type { WorkerOptions } from "../worker/options.ts";
import { CLIENT_OPTIONS } from "../client/option_kinds.ts";
import { ENGINE_OPTIONS } from "../engine/option_kinds.ts";
import { WORKER_OPTIONS } from "../worker/option_kinds.ts";

/** Options of {@link open}. */
export interface OpenOptions extends CodecOptions {
  /**
   * SQLite file of the store, created if missing. Without it everything is in memory and ends with
   * the process.
   */
  path?: string;
  /**
   * Modules that define the workflows: `new URL("./workflows.ts", import.meta.url)`. Definitions
   * instead run in this thread.
   */
  workflows?: WorkerOptions["workflows"];
  /**
   * Activity functions by name: an object, or a module (`import * as activities from
   * "./activities.ts"`).
   */
  activities?: WorkerOptions["activities"];
  /** Default: "default". */
  taskQueue?: string;
  /** Converts values to payloads. Default: JSON. */
  converter?: ClientOptions["converter"];
  /**
   * Functions for `transact` in workflows; they run in the transaction that commits the workflow
   * task. An object, or a module (`import * as reducers from "./reducers.ts"`).
   */
  reducers?: EmbeddedEngineOptions["reducers"];
  /**
   * Functions that clients run by name, also from other processes: `client.call`. Each runs in a
   * transaction. An object, or a module (`import * as functions from "./functions.ts"`).
   */
  functions?: EmbeddedEngineOptions["functions"];
  /** Migrations of the application's own tables in the store's file; each is applied once. */
  migrations?: EmbeddedEngineOptions["migrations"];
  /** Default: logs lines to standard error. */
  logger?: Logger;
  /**
   * Serves the engine to the command line and other processes of the same user, over a socket next
   * to the store file. Default: true with a `path`, in Node and Deno. If serving fails by default,
   * a warning is logged and the engine runs.
   */
  serve?: boolean;
  /** Further options of the engine. */
  engine?: Omit<EmbeddedEngineOptions, "path">;
  /** Further options of the worker. */
  worker?: Omit<WorkerOptions, "service" | "taskQueue" | "workflows" | "activities">;
  /** Further options of the client. */
  client?: Omit<ClientOptions, "service" | "taskQueue">;
}

const { path, ...engine } = ENGINE_OPTIONS;
const { service: _theWorkers, taskQueue, workflows, activities, ...worker } = WORKER_OPTIONS;
const { service: _theClients, taskQueue: _theSame, ...client } = CLIENT_OPTIONS;
const { converter, codec, encodeCommonAttributes, logger } = client;
const { reducers, functions, migrations } = engine;

const OPTIONS: kind.Table<OpenOptions> = {
  ...{
    path,
    workflows,
    activities,
    taskQueue,
    reducers,
    functions,
    migrations,
    converter,
    codec,
    encodeCommonAttributes,
    logger,
  },
  ...{ serve: kind.flag, engine, worker, client },
};

/** Throws a TypeError with the option, its value and the expected type. */
export function checkOpenOptions(options: OpenOptions): void {
  kind.checkOptions("open", options, OPTIONS, (part, name) => {
    if (part === "" || !Object.hasOwn(OPTIONS, name)) return undefined;
    return `${name} is an option of open itself: write open({ ${name} }), not ${part}.${name}`;
  });
}
