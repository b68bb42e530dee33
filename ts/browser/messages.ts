// Messages between tabs, and between a tab and its engine worker. A page and its engine worker use
// postMessage. A page calls the leader's engine worker on the BroadcastChannel "…:to:<leader>",
// with responses on "…:to:<page>". All use "…:all", for the current leader and the versions of
// tabs. All future versions must understand `Hail`: from it an older page learns that it is
// outdated.
import type { EngineLimits } from "../engine/options.ts";
import type { Synchronous } from "../engine/sqlite/open.ts";
import type { SqlValue } from "../engine/sqlite/driver.ts";
import { schemaVersion } from "../engine/sqlite/schema.ts";
import type { CallOptions, MethodName } from "../service/raw.ts";
import { VERSION } from "../base/version.ts";
import type { ErrorData } from "./error_data.ts";

/** Version of the messages below `Hail`. Tabs of different protocols do not call each other. */
export const TAB_PROTOCOL = 4;

/** Versions that a tab's code supports. */
export interface Versions {
  readonly protocol: number;
  readonly schema: number;
  readonly version: string;
}

export function ownVersions(): Versions {
  return { protocol: TAB_PROTOCOL, schema: schemaVersion(), version: VERSION };
}

/** Returns whether `theirs` is newer. Older code must not open the store after newer code. */
export function isNewer(theirs: Versions, ours: Versions): boolean {
  return theirs.schema > ours.schema || theirs.protocol > ours.protocol;
}

/**
 * Message of the common channel. "hello": a new tab asks for the leader. "leader": the sender
 * leads.
 */
export interface Hail extends Versions {
  readonly temporalex: 1;
  readonly kind: "hello" | "leader";
  /** The sender; for "leader", the address of calls. */
  readonly from: string;
}

export function isHail(data: unknown): data is Hail {
  const hail = data as Partial<Hail> | null;
  return typeof hail === "object" && hail?.temporalex === 1 && typeof hail.from === "string" &&
    typeof hail.protocol === "number" &&
    typeof hail.schema === "number" && typeof hail.version === "string";
}

/** Calls of a RawService, and of the store itself. `from` and `id` identify a call. */
export type ToLeader =
  | {
    readonly k: "call";
    readonly from: string;
    readonly id: number;
    readonly method: MethodName;
    readonly request: Uint8Array;
    readonly timeoutMs?: number;
    readonly shown?: CallOptions["shown"];
  }
  | { readonly k: "cancel"; readonly from: string; readonly id: number }
  | { readonly k: "export"; readonly from: string; readonly id: number }
  | { readonly k: "check"; readonly from: string; readonly id: number }
  | {
    readonly k: "purge";
    readonly from: string;
    readonly id: number;
    readonly closedBefore: number;
    readonly limit: number;
  }
  | {
    readonly k: "import";
    readonly from: string;
    readonly id: number;
    readonly file: Blob;
    readonly force: boolean;
  }
  /** Fires a timer of a workflow with manual timers. */
  | {
    readonly k: "fire";
    readonly from: string;
    readonly id: number;
    readonly workflowId: string;
    readonly name: string;
    readonly runId: string | undefined;
  }
  /** Runs a function of the application: a path of `RawService.callOther`. */
  | {
    readonly k: "other";
    readonly from: string;
    readonly id: number;
    readonly path: string;
    readonly request: Uint8Array;
  }
  /** Queries the application's tables. */
  | {
    readonly k: "read";
    readonly from: string;
    readonly id: number;
    readonly sql: string;
    readonly params: readonly SqlValue[];
  };

export type ChoreValue =
  | Uint8Array
  | Blob
  | readonly string[]
  | readonly object[]
  | number
  | undefined;

export type FromLeader =
  | {
    readonly k: "answer";
    readonly to: string;
    readonly id: number;
    readonly value: ChoreValue;
  }
  | { readonly k: "refusal"; readonly to: string; readonly id: number; readonly error: ErrorData };

/** First message to an engine worker. */
export interface EngineInit {
  readonly k: "init";
  readonly name: string;
  /** WASM module of the engine's core. */
  readonly core: WebAssembly.Module;
  readonly sqliteWasm: string | undefined;
  readonly namespace: string | undefined;
  /** Queue of starts in transactions. */
  readonly taskQueue: string;
  readonly limits: EngineLimits | undefined;
  readonly synchronous: Synchronous | undefined;
  /** True if the page has a payload codec, which reducers need as well. */
  readonly coded: boolean;
}

/** Messages of a page to its engine worker, in addition to calls. */
export type ToEngine =
  | EngineInit
  | { readonly k: "pong" }
  /** Finish, release the store, and do not lead again. */
  | { readonly k: "resign" };

/** Messages of an engine worker to its page, in addition to responses. */
export type FromEngine =
  /** The worker runs and waits for the lock. */
  | { readonly k: "waiting" }
  /** This tab leads; its own calls use the local connection. */
  | {
    readonly k: "leading";
    readonly leader: string;
    readonly description: string;
    readonly runsReducers: boolean;
  }
  /** This tab no longer leads. `again`: it waits for its next turn. */
  | { readonly k: "stepped-down"; readonly reason: string; readonly again: boolean }
  /** An import replaced the store: cached runs of the page are invalid. */
  | { readonly k: "replaced" }
  /** The store cannot be opened, or no longer. `final`: this tab does not retry. */
  | { readonly k: "failed"; readonly error: ErrorData; readonly final: boolean }
  /** An error that the engine survived. */
  | { readonly k: "survived"; readonly error: ErrorData }
  | { readonly k: "ping" }
  | { readonly k: "resigned" };

export const lockName = (store: string): string => `temporalex:${store}`;
export const commonChannel = (store: string): string => `temporalex:${store}:all`;
export const channelOf = (store: string, address: string): string =>
  `temporalex:${store}:to:${address}`;
