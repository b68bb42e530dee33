// What a piece of workflow code runs in: its cancellation scope and, inside an update handler, that update. Programs of the official
// API take all jobs of an activation in one drain, so continuations of several scopes interleave and the context has to follow each
// async function. There are two ways, behind one interface: AsyncLocalStorage, given by a host that has one (Node, Deno), and a plain
// slot that the rewriting loader puts back after every await (browsers, see modules/loader/rewrite.ts).
import type { EventGroupMarker } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { WatchedFiber } from "../executor/program/line_probe.ts";
import type { Scope } from "./workflow/join.ts";

/** An event group's marker as commands carry it. */
export type GroupMessage = EventGroupMarker;

/** The event groups of the code that runs (workflow/event_groups.ts). */
export interface ActiveGroups {
  /** That of the message whose handler runs. */
  readonly implicit: GroupMessage | undefined;
  /** Those of scopes, by id. */
  readonly explicit: { readonly [id: string]: { readonly message: GroupMessage } };
}

/** Immutable: a nested scope runs in a frame of its own. */
export interface ScopeFrame {
  readonly scope: Scope;
  /** Present in an update handler and in everything that it calls. */
  readonly update?: UpdateInfo;
  /** Of a handler, and of everything that it calls: which one, where a debug session asks. */
  readonly fiber?: WatchedFiber;
  /** Draws the numbers of Math.random() and uuid4(); absent: the run's own generator does. */
  readonly random?: { random(): number } | undefined;
  /** Of a validator, and of everything that it calls and awaits: code that does not run again on replay. */
  readonly unreplayed?: true;
  /** What the commands carry that the code issues. */
  readonly groups?: ActiveGroups;
  /** What AsyncLocalStorage objects of the program have stored (sandbox/async_local_storage.ts). */
  readonly stores?: ReadonlyMap<object, { readonly value: unknown; readonly epoch: object }>;
}

/** The update whose handler is running. */
export interface UpdateInfo {
  /** Id of the update. */
  readonly id: string;
  /** Its name. */
  readonly name: string;
}

export interface ScopeContext {
  /** The frame of the running code; undefined outside of every scope, which means the run's root scope. */
  current(): ScopeFrame | undefined;
  /** Calls `fn` in the frame. What it awaits continues in the frame; the caller goes on in its own. */
  run<T>(frame: ScopeFrame | undefined, fn: () => T): T;
  /** The rest of the running code is in the frame. */
  enter(frame: ScopeFrame): void;
}

/** The part of node:async_hooks' AsyncLocalStorage that is needed. */
export interface AsyncStorage {
  getStore(): ScopeFrame | undefined;
  run<T>(store: ScopeFrame | undefined, fn: () => T): T;
  enterWith(store: ScopeFrame | undefined): void;
}

/** Context by AsyncLocalStorage; the host makes the storage, because this folder imports nothing of a platform. */
export function asyncStorageContext(storage: AsyncStorage): ScopeContext {
  return {
    current: () => storage.getStore(),
    run: (frame, fn) => storage.run(frame, fn),
    enter: (frame) => storage.enterWith(frame),
  };
}

/**
 * Context by one slot. Right only for code that the rewriting loader has seen: it calls `restore` wherever such code goes on after a
 * suspension. The slot is meaningless between two pieces of code, so nothing but rewritten code and `run` may read it.
 */
export class SlotContext implements ScopeContext {
  #frame: ScopeFrame | undefined;

  current(): ScopeFrame | undefined {
    return this.#frame;
  }

  run<T>(frame: ScopeFrame | undefined, fn: () => T): T {
    const before = this.#frame;
    this.#frame = frame;
    try {
      return fn();
    } finally {
      this.#frame = before;
    }
  }

  enter(frame: ScopeFrame): void {
    this.#frame = frame;
  }

  /** Puts a frame back; answers the value, so that it fits around an await. */
  restore<T>(frame: ScopeFrame | undefined, value?: T): T {
    this.#frame = frame;
    return value as T;
  }
}
