// What an application's engine worker gives to its engine: functions, which cannot come from the page by a message.
import type { EmbeddedEngineOptions } from "../engine/options.ts";

/** Options of {@link serveEngine}. */
export interface EngineEntryOptions {
  /** Functions that workflows run by `transact`, in the transaction that commits the task (`import * as reducers from "./reducers.ts"`). */
  readonly reducers?: NonNullable<EmbeddedEngineOptions["reducers"]>;
  /** The application's own tables in the store's file, step by step; each is applied once. */
  readonly migrations?: NonNullable<EmbeddedEngineOptions["migrations"]>;
  /** How arguments and results of reducers become payloads: that of the page. Default: JSON. */
  readonly converter?: NonNullable<EmbeddedEngineOptions["converter"]>;
  /** The codec of the page, for arguments and results of reducers. It needs `encodeSync` and `decodeSync`. Default: none. */
  readonly codec?: NonNullable<EmbeddedEngineOptions["codec"]>;
  /** As the page has it. Default: false. */
  readonly encodeCommonAttributes?: NonNullable<EmbeddedEngineOptions["encodeCommonAttributes"]>;
}
