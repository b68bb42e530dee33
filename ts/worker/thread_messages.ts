// What crosses between a worker and the threads of its activities. Arguments and results cross by structured clone; failures as encoded
// Failure messages, so that their classes and causes survive.
import type { ActivityContext, ActivityInfo, CancelReason } from "../activity/context.ts";
import type { LogFields, LogLevel } from "../base/logger.ts";

/** Hooks for Node's loader (node:module `register`): the URL of their module, and what they are initialised with. */
export interface LoaderHooks {
  /** URLs of modules that are imported before: they may install hooks of their own. */
  readonly imports: readonly string[];
  readonly url: string;
  readonly data: unknown;
}

export type ToThread =
  | { kind: "load"; modules: readonly string[]; hooks: LoaderHooks | undefined }
  | { kind: "run"; id: number; activity: string; info: ActivityInfo; headers: ActivityContext["headers"]; args: unknown[] }
  | { kind: "cancel"; id: number; reason: CancelReason; message: string };

export type FromThread =
  | { kind: "loaded"; names: string[] }
  | { kind: "broken"; message: string }
  | { kind: "heartbeat"; id: number; details: unknown }
  | { kind: "log"; id: number; level: LogLevel; message: string; fields: LogFields | undefined }
  | { kind: "done"; id: number; result: unknown }
  | { kind: "failed"; id: number; failure: Uint8Array }
  | { kind: "completesAsync"; id: number };
