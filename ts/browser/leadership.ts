// Code of an engine worker: it waits for the store's Web Lock and leads while it has the lock. The
// lock is released with the worker, so a tab that is closed, killed or frozen (its page then ends
// the worker) makes way. Applications with reducers, or whose bundler does not follow the package's
// `new Worker(new URL(...))`, have an entry file that calls `serveEngine()` of
// "temporalex/browser".
import { randomId } from "../platform/host.ts";
import {
  isFinalStoreError,
  StoreError,
  StoreFencedError,
  StoreUnavailableError,
  StoreVersionError,
} from "../engine/store_errors.ts";
import { NotAStoreError } from "../engine/store_errors.ts";
import { toData } from "./error_data.ts";
import type { EngineEntryOptions } from "./engine_entry.ts";
import { LeaderEngine } from "./leader_engine.ts";
import {
  channelOf,
  commonChannel,
  type EngineInit,
  type FromEngine,
  type FromLeader,
  type Hail,
  isHail,
  isNewer,
  lockName,
  ownVersions,
  type ToEngine,
  type ToLeader,
} from "./messages.ts";

interface WorkerScope {
  postMessage(message: unknown): void;
  onmessage: ((event: MessageEvent) => void) | null;
}

/** Interval of pings to the page while other tabs wait. */
const PING_MS = 2000;
/** Unanswered pings after which the next tab leads: workflow code runs in the page's threads. */
const MAX_SILENT = 2;
/** Delay of a retry after a transient failure (no space, files in use). */
const RETRY_MS = 2000;

/**
 * Serves the engine of one tab in this worker. All pages of a site that can lead must pass the same
 * reducers, functions and migrations; they run in the leading tab.
 *
 * @example
 * // engine.ts
 * import { serveEngine } from "temporalex/browser";
 * import * as reducers from "./reducers.ts";
 * serveEngine({ reducers, migrations: [{ name: "001 npcs", sql: "CREATE TABLE npc (id INTEGER PRIMARY KEY, name TEXT)" }] });
 */
export function serveEngine(options: EngineEntryOptions = {}): void {
  const scope = globalThis as unknown as WorkerScope;
  let session: Session | undefined;
  scope.onmessage = ({ data }: MessageEvent<ToEngine | ToLeader>) => {
    if (data?.k === "init") {
      session ??= new Session(data, options, (message) => scope.postMessage(message));
    } else session?.receive(data);
  };
}

class Session {
  readonly #init: EngineInit;
  readonly #entry: EngineEntryOptions;
  readonly #post: (message: FromEngine | FromLeader) => void;
  readonly #common: BroadcastChannel;
  readonly #own = ownVersions();
  /** Ends the wait for the lock. */
  readonly #waiting = new AbortController();
  #leader: LeaderEngine | undefined;
  #address: string | undefined;
  #stepDown: ((reason: string) => void) | undefined;
  #resigned = false;
  #silent = 0;

  constructor(
    init: EngineInit,
    entry: EngineEntryOptions,
    post: (message: FromEngine | FromLeader) => void,
  ) {
    this.#init = init;
    this.#entry = entry;
    this.#post = post;
    this.#common = new BroadcastChannel(commonChannel(init.name));
    this.#common.onmessage = ({ data }) => this.#hail(data);
    this.#post({ k: "waiting" });
    void this.#contend();
  }

  /** Waits for the lock and leads, in a loop, until this tab resigns. */
  async #contend(): Promise<void> {
    const locks = (navigator as { locks?: LockManager }).locks;
    if (locks === undefined) {
      const error = new StoreUnavailableError(
        "Web Locks are not available, and tabs need them to elect a leader: use a current browser, and serve the page over https or from localhost",
        isSecureContext ? "unsupported" : "insecure",
      );
      return this.#post({ k: "failed", error: toData(error), final: true });
    }
    while (!this.#resigned) {
      let pause = 0;
      try {
        pause = await locks.request(
          lockName(this.#init.name),
          { signal: this.#waiting.signal },
          () => this.#turn(),
        ) as number;
      } catch (e) {
        // Resigned while waiting, or the lock was stolen: #turn has handled it.
        if (this.#resigned) break;
        if ((e as Error).name === "SecurityError") {
          this.#post({ k: "failed", error: toData(blocked(e as Error)), final: true });
          break;
        }
        this.#lockLost(e as Error);
        pause = RETRY_MS;
      }
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    }
    this.#common.close();
    this.#post({ k: "resigned" });
  }

  /**
   * Leads once. The lock is held until the promise resolves, with the delay before the next try.
   */
  async #turn(): Promise<number> {
    if (this.#resigned) return 0;
    let problem: Error | undefined;
    let reason = "";
    const end = new Promise<void>((resolve) => {
      this.#stepDown = (why) => {
        reason ||= why;
        resolve();
      };
    });
    const fence = {
      lost: undefined as Error | undefined,
      check() {
        if (this.lost !== undefined) throw this.lost;
      },
      held() {
        return this.lost === undefined;
      },
      release() {},
    };
    this.#lockLost = (e) => {
      fence.lost = new StoreFencedError(
        `the lock of the store "${this.#init.name}" was lost (${e.message}); this tab no longer writes`,
      );
      this.#stepDown?.("the lock was lost");
    };
    try {
      const leader = await LeaderEngine.open(this.#init, this.#entry, fence, {
        survived: (error) => this.#post({ k: "survived", error: toData(error) }),
        replaced: () => this.#post({ k: "replaced" }),
        stopped: (error) => {
          problem = error;
          this.#stepDown?.(error.message);
        },
      });
      await this.#lead(leader, end);
      reason ||= "it was closed";
    } catch (e) {
      problem = e as Error;
    } finally {
      this.#stepDown = undefined;
    }
    if (problem === undefined) {
      this.#post({ k: "stepped-down", reason, again: !this.#resigned });
      return 0;
    }
    const final = isHopeless(problem);
    if (final) this.#resigned = true;
    this.#post({ k: "failed", error: toData(problem), final });
    return RETRY_MS;
  }

  #lockLost: (e: Error) => void = () => {};

  async #lead(leader: LeaderEngine, end: Promise<void>): Promise<void> {
    this.#leader = leader;
    this.#address = randomId();
    this.#silent = 0;
    const calls = new BroadcastChannel(channelOf(this.#init.name, this.#address));
    const lines = new Map<string, BroadcastChannel>();
    /** Cached: a tab usually calls again. */
    const lineTo = (tab: string): BroadcastChannel => {
      let line = lines.get(tab);
      if (line === undefined) {
        if (lines.size >= 32) {
          const [oldest, channel] = lines.entries().next().value!;
          lines.delete(oldest);
          channel.close();
        }
        lines.set(tab, line = new BroadcastChannel(channelOf(this.#init.name, tab)));
      }
      return line;
    };
    calls.onmessage = ({ data }) =>
      leader.receive(data, (answer) => lineTo(answer.to).postMessage(answer));
    const watch = setInterval(() => void this.#watchPage(), PING_MS);
    try {
      const { description, runsReducers } = leader;
      this.#post({ k: "leading", leader: this.#address, description, runsReducers });
      this.#announce();
      await end;
    } finally {
      clearInterval(watch);
      this.#leader = undefined;
      this.#address = undefined;
      calls.onmessage = null;
      try {
        await leader.close();
      } finally {
        calls.close();
        for (const line of lines.values()) line.close();
      }
    }
  }

  #announce(): void {
    if (this.#address === undefined) return;
    this.#common.postMessage(
      { temporalex: 1, kind: "leader", from: this.#address, ...this.#own } satisfies Hail,
    );
  }

  /** Handles a message of the common channel. */
  #hail(data: unknown): void {
    if (!isHail(data)) return;
    // The page receives it as well and asks the user to reload. Its further calls go to the newer
    // tab, if that supports them.
    if (isNewer(data, this.#own)) {
      return this.#resign(`a tab with temporalex ${data.version} becomes the leader`);
    }
    if (data.kind === "hello") this.#announce();
  }

  receive(message: ToEngine | ToLeader): void {
    switch (message?.k) {
      case "pong":
        this.#silent = 0;
        return;
      case "resign":
        return this.#resign("it was closed");
      case "init":
      case undefined:
        return;
      default:
        this.#leader?.receive(message, (answer) => this.#post(answer));
    }
  }

  #resign(reason: string): void {
    if (this.#resigned) return;
    this.#resigned = true;
    this.#waiting.abort();
    this.#stepDown?.(reason);
  }

  /**
   * Steps down if the page hangs (a dialog, a debugger, an endless loop), because workflows run
   * there, and another tab waits.
   */
  async #watchPage(): Promise<void> {
    this.#post({ k: "ping" });
    if (++this.#silent <= MAX_SILENT) return;
    const { pending = [] } = await navigator.locks.query();
    const others = pending.some(({ name }) => name === lockName(this.#init.name));
    if (others && this.#silent > MAX_SILENT) this.#stepDown?.("its page does not respond");
  }
}

function blocked(e: Error): StoreUnavailableError {
  return new StoreUnavailableError(
    `the browser denies access to storage (${e.message}), for example in a private window or sandboxed frame, or with blocked site data: use an ` +
      "ordinary window, or allow this site to store data",
    "blocked",
    { cause: e },
  );
}

/** Returns whether a retry by this tab cannot help. */
function isHopeless(e: Error): boolean {
  return e instanceof StoreUnavailableError || e instanceof StoreVersionError ||
    e instanceof NotAStoreError ||
    (isFinalStoreError(e) && !(e instanceof StoreFencedError)) || !(e instanceof StoreError);
}
