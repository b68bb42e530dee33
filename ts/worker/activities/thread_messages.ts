// Messages between a worker and its activity threads. Arguments and results use structured clone;
// failures are encoded Failure messages, which keep classes and causes.
import type { ActivityContext, ActivityInfo, CancelReason } from "../../activity/context.ts";
import type { LogFields, LogLevel } from "../../base/logger.ts";

/** Hooks for Node's loader (node:module `register`): URL of their module, and its data. */
export interface LoaderHooks {
  /** URLs of modules that are imported first; they may install other hooks. */
  readonly imports: readonly string[];
  readonly url: string;
  readonly data: unknown;
}

export type ToThread =
  | { kind: "load"; modules: readonly string[]; hooks: LoaderHooks | undefined }
  | {
    kind: "run";
    id: number;
    activity: string;
    info: ActivityInfo;
    headers: ActivityContext["headers"];
    args: unknown[];
  }
  | { kind: "cancel"; id: number; reason: CancelReason; message: string };

export type FromThread =
  | { kind: "loaded"; names: string[] }
  | { kind: "broken"; message: string }
  | { kind: "heartbeat"; id: number; details: unknown }
  | { kind: "log"; id: number; level: LogLevel; message: string; fields: LogFields | undefined }
  | { kind: "done"; id: number; result: unknown }
  | { kind: "failed"; id: number; failure: Uint8Array }
  | { kind: "completesAsync"; id: number };
