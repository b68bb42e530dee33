// What an application's engine worker passes to its engine: functions, which the page cannot send.
import type { EmbeddedEngineOptions } from "../engine/options.ts";

/** Options of {@link serveEngine}. */
export interface EngineEntryOptions {
  /**
   * Functions for `transact` in workflows, in the transaction that commits the task (`import * as
   * reducers from "./reducers.ts"`).
   */
  readonly reducers?: NonNullable<EmbeddedEngineOptions["reducers"]>;
  /**
   * Functions that clients of all tabs run by name (`client.call`), each in a transaction (`import *
   * as functions from "./functions.ts"`).
   */
  readonly functions?: NonNullable<EmbeddedEngineOptions["functions"]>;
  /** Migrations of the application's own tables in the store's file; each is applied once. */
  readonly migrations?: NonNullable<EmbeddedEngineOptions["migrations"]>;
  /**
   * Converter for arguments and results of reducers and functions: the page's converter. Default:
   * JSON.
   */
  readonly converter?: NonNullable<EmbeddedEngineOptions["converter"]>;
  /**
   * Codec of the page, for arguments and results of reducers and functions; needs `encodeSync` and `decodeSync`.
   * Default: none.
   */
  readonly codec?: NonNullable<EmbeddedEngineOptions["codec"]>;
  /** Same value as in the page. Default: false. */
  readonly encodeCommonAttributes?: NonNullable<EmbeddedEngineOptions["encodeCommonAttributes"]>;
}
