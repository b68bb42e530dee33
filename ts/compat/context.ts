// Context of workflow code: its cancellation scope and, in an update handler, the update. Programs
// of the official API process all jobs of an activation in one drain, so the context must follow
// each async function. Two implementations: AsyncLocalStorage of the host (Node, Deno), and a slot
// that the rewriting loader restores after every await (browsers, see modules/loader/rewrite.ts).
import type { EventGroupMarker } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { WatchedFiber } from "../executor/program/line_probe.ts";
import type { Scope } from "./workflow/join.ts";

/** Marker of an event group in commands. */
export type GroupMessage = EventGroupMarker;

/** Event groups of the running code (workflow/event_groups.ts). */
export interface ActiveGroups {
  /** Group of the message whose handler runs. */
  readonly implicit: GroupMessage | undefined;
  /** Groups of scopes, by id. */
  readonly explicit: { readonly [id: string]: { readonly message: GroupMessage } };
}

/** Immutable: a nested scope runs in a new frame. */
export interface ScopeFrame {
  readonly scope: Scope;
  /** Set in an update handler and in everything that it calls. */
  readonly update?: UpdateInfo;
  /** Handler of the code, if a debug session requests it. */
  readonly fiber?: WatchedFiber;
  /** Random numbers of Math.random() and uuid4(); undefined: the run's own generator. */
  readonly random?: { random(): number } | undefined;
  /**
   * Set in validators and everything that they call and await: code that does not run on replay.
   */
  readonly unreplayed?: true;
  /** Event groups of commands. */
  readonly groups?: ActiveGroups;
  /** Values of AsyncLocalStorage objects of the program (sandbox/async_local_storage.ts). */
  readonly stores?: ReadonlyMap<object, { readonly value: unknown; readonly epoch: object }>;
}

/** The update whose handler is running. */
export interface UpdateInfo {
  readonly id: string;
  readonly name: string;
}

export interface ScopeContext {
  /**
   * Returns the frame of the running code; undefined outside of every scope, that is, in the run's
   * root scope.
   */
  current(): ScopeFrame | undefined;
  /**
   * Calls `fn` in the frame, including its continuations; the caller continues in its own frame.
   */
  run<T>(frame: ScopeFrame | undefined, fn: () => T): T;
  /** Runs the rest of the current code in the frame. */
  enter(frame: ScopeFrame): void;
}

/** The part of AsyncLocalStorage of node:async_hooks that is used. */
export interface AsyncStorage {
  getStore(): ScopeFrame | undefined;
  run<T>(store: ScopeFrame | undefined, fn: () => T): T;
  enterWith(store: ScopeFrame | undefined): void;
}

/**
 * Returns a context that uses AsyncLocalStorage. The host creates the storage, because this folder
 * is platform-independent.
 */
export function asyncStorageContext(storage: AsyncStorage): ScopeContext {
  return {
    current: () => storage.getStore(),
    run: (frame, fn) => storage.run(frame, fn),
    enter: (frame) => storage.enterWith(frame),
  };
}

/**
 * Context in one slot, only for code of the rewriting loader, which calls `restore` after each
 * suspension. The slot has no meaning between two parts of code, so only rewritten code and `run`
 * may read it.
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

  /** Restores a frame and returns the value, so that it can wrap an await. */
  restore<T>(frame: ScopeFrame | undefined, value?: T): T {
    this.#frame = frame;
    return value as T;
  }
}
