// What tabs, and a tab and its engine worker, say to each other.
//
//   page ──postMessage── its engine worker          the local line
//   page ──BroadcastChannel "…:to:<leader>"── the leading tab's engine worker, answers on "…:to:<page>"
//   everybody ──BroadcastChannel "…:all"──          who leads, and which versions are about
//
// A channel of its own for each receiver, so that a call reaches one tab and wakes no other. `Hail` must be understood by all versions of
// this package for ever: by it an older page learns that it is older.
import type { EngineLimits } from "../engine/options.ts";
import type { Synchronous } from "../engine/sqlite/open.ts";
import type { SqlValue } from "../engine/sqlite/driver.ts";
import { schemaVersion } from "../engine/sqlite/schema.ts";
import type { CallOptions, MethodName } from "../service/raw.ts";
import { VERSION } from "../base/version.ts";
import type { ErrorData } from "./error_data.ts";

/** Version of the messages below `Hail`. Tabs of different protocols do not call each other. */
export const TAB_PROTOCOL = 3;

/** What a tab's code knows. */
export interface Versions {
  readonly protocol: number;
  readonly schema: number;
  readonly version: string;
}

export function ownVersions(): Versions {
  return { protocol: TAB_PROTOCOL, schema: schemaVersion(), version: VERSION };
}

/** Older code must not open the store after this one has. */
export function isNewer(theirs: Versions, ours: Versions): boolean {
  return theirs.schema > ours.schema || theirs.protocol > ours.protocol;
}

/** On the common channel. "hello": a tab is here, and asks who leads. "leader": I lead. */
export interface Hail extends Versions {
  readonly temporalex: 1;
  readonly kind: "hello" | "leader";
  /** The sender: for "leader", the address of calls. */
  readonly from: string;
}

export function isHail(data: unknown): data is Hail {
  const hail = data as Partial<Hail> | null;
  return typeof hail === "object" && hail?.temporalex === 1 && typeof hail.from === "string" &&
    typeof hail.protocol === "number" &&
    typeof hail.schema === "number" && typeof hail.version === "string";
}

/** Calls of a RawService, and of the store itself. `from` and `id` together name a call. */
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
  | { readonly k: "purge"; readonly from: string; readonly id: number; readonly closedBefore: number; readonly limit: number }
  | { readonly k: "import"; readonly from: string; readonly id: number; readonly file: Blob; readonly force: boolean }
  /** Of a workflow with manual timers. */
  | {
    readonly k: "fire";
    readonly from: string;
    readonly id: number;
    readonly workflowId: string;
    readonly name: string;
    readonly runId: string | undefined;
  }
  /** A query of the application's tables. */
  | {
    readonly k: "read";
    readonly from: string;
    readonly id: number;
    readonly sql: string;
    readonly params: readonly SqlValue[];
  };

export type ChoreValue = Blob | readonly string[] | readonly object[] | number | undefined;

export type FromLeader =
  | { readonly k: "answer"; readonly to: string; readonly id: number; readonly value: Uint8Array | ChoreValue }
  | { readonly k: "refusal"; readonly to: string; readonly id: number; readonly error: ErrorData };

/** The first message to an engine worker. */
export interface EngineInit {
  readonly k: "init";
  readonly name: string;
  /** The engine's half. */
  readonly core: WebAssembly.Module;
  readonly sqliteWasm: string | undefined;
  readonly namespace: string | undefined;
  readonly limits: EngineLimits | undefined;
  readonly synchronous: Synchronous | undefined;
  /** The page has a payload codec, which reducers need, too. */
  readonly coded: boolean;
}

/** Page to its engine worker, beside calls. */
export type ToEngine =
  | EngineInit
  | { readonly k: "pong" }
  /** Finish, let go of the store, and stay out. */
  | { readonly k: "resign" };

/** Engine worker to its page, beside answers. */
export type FromEngine =
  /** It runs, and waits for its turn. */
  | { readonly k: "waiting" }
  /** This tab leads; its own calls go over the local line. */
  | { readonly k: "leading"; readonly leader: string; readonly description: string; readonly runsReducers: boolean }
  /** It leads no more. `again`: it waits for its next turn. */
  | { readonly k: "stepped-down"; readonly reason: string; readonly again: boolean }
  /** The store was replaced by an import: what the page remembers of runs is of no use. */
  | { readonly k: "replaced" }
  /** The store cannot be opened, or not any more. `final`: this tab does not try again. */
  | { readonly k: "failed"; readonly error: ErrorData; readonly final: boolean }
  /** A failure that the engine has survived. */
  | { readonly k: "survived"; readonly error: ErrorData }
  | { readonly k: "ping" }
  | { readonly k: "resigned" };

export const lockName = (store: string): string => `temporalex:${store}`;
export const commonChannel = (store: string): string => `temporalex:${store}:all`;
export const channelOf = (store: string, address: string): string => `temporalex:${store}:to:${address}`;
