// Options of open(), and what is refused of them before anything is opened.
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
  /** SQLite file in which everything is kept, created when missing. Without it everything is in memory, and gone with the process. */
  path?: string;
  /** The modules that define the workflows: `new URL("./workflows.ts", import.meta.url)`. Or definitions, to run them in this thread. */
  workflows?: WorkerOptions["workflows"];
  /** Activity functions by name: an object, or a module (`import * as activities from "./activities.ts"`). */
  activities?: WorkerOptions["activities"];
  /** Default: "default". */
  taskQueue?: string;
  /** How values become payloads. Default: JSON. */
  converter?: ClientOptions["converter"];
  /**
   * Functions that workflows run by `transact`, in the transaction that commits their task: an object, or a module
   * (`import * as reducers from "./reducers.ts"`).
   */
  reducers?: EmbeddedEngineOptions["reducers"];
  /** The application's own tables in the store's file, step by step; each is applied once. */
  migrations?: EmbeddedEngineOptions["migrations"];
  /** Default: lines on standard error. */
  logger?: Logger;
  /**
   * Lets the command line and other processes of the same user talk to the engine while it runs, over a socket beside the store file.
   * Default: true where there is a `path`, in Node and Deno. If that is not possible there, a warning is logged and the engine runs on.
   */
  serve?: boolean;
  /** More options of the parts. */
  engine?: Omit<EmbeddedEngineOptions, "path">;
  /** Options of the worker, beside those above. */
  worker?: Omit<WorkerOptions, "service" | "taskQueue" | "workflows" | "activities">;
  /** Options of the client, beside those above. */
  client?: Omit<ClientOptions, "service" | "taskQueue">;
}

const { path, ...engine } = ENGINE_OPTIONS;
const { service: _theWorkers, taskQueue, workflows, activities, ...worker } = WORKER_OPTIONS;
const { service: _theClients, taskQueue: _theSame, ...client } = CLIENT_OPTIONS;
const { converter, codec, encodeCommonAttributes, logger } = client;
const { reducers, migrations } = engine;

const OPTIONS: kind.Table<OpenOptions> = {
  ...{ path, workflows, activities, taskQueue, reducers, migrations, converter, codec, encodeCommonAttributes, logger },
  ...{ serve: kind.flag, engine, worker, client },
};

/** Throws a TypeError that names the option, what was given and what is expected. */
export function checkOpenOptions(options: OpenOptions): void {
  kind.checkOptions("open", options, OPTIONS, (part, name) => {
    if (part === "" || !Object.hasOwn(OPTIONS, name)) return undefined;
    return `${name} is an option of open itself: write open({ ${name} }), not ${part}.${name}`;
  });
}
