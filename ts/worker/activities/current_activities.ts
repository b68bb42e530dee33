// The activities that a worker has now: functions of this process and a pool of threads. They can
// be replaced while attempts run.
import type { ActivityDialect, RunActivity } from "./activity_dialect.ts";
import { ActivityPool } from "./activity_pool.ts";
import { ActivityRegistry } from "./activity_registry.ts";
import type { WorkerOptions, WorkerSettings } from "../options.ts";

const NO_ACTIVITIES = new ActivityRegistry({});

/** The current activities of one worker. */
export class CurrentActivities {
  #registry: ActivityRegistry | undefined;
  #pool: ActivityPool | undefined;
  #functions: WorkerOptions["activities"];
  readonly #settings: WorkerSettings;
  readonly #dialect: ActivityDialect;
  /** Replaced pools with running activities. */
  readonly #retired = new Set<ActivityPool>();
  /** Aborts activities that are being loaded. */
  readonly #loading = new AbortController();

  constructor(
    registry: ActivityRegistry | undefined,
    pool: ActivityPool | undefined,
    functions: WorkerOptions["activities"],
    settings: WorkerSettings,
  ) {
    this.#registry = registry;
    this.#pool = pool;
    this.#functions = functions;
    this.#settings = settings;
    this.#dialect = settings.dialect;
  }

  /** Undefined: the worker has no activities. */
  get registry(): ActivityRegistry | undefined {
    return this.#registry;
  }

  /** Returns the function that runs an activity, in a thread or in this one. */
  find(type: string): RunActivity {
    const pool = this.#pool;
    if (pool?.names.includes(type)) return (context, args) => pool.run(type, context, args);
    return this.#dialect.call((this.#registry ?? NO_ACTIVITIES).find(type));
  }

  /** Returns the error for a type that is not registered; undefined if it is. */
  lacks(type: string): ReturnType<ActivityRegistry["lacks"]> {
    return (this.#registry ?? NO_ACTIVITIES).lacks(type);
  }

  /**
   * Later attempts use the new activities, running ones finish. Undefined leaves functions or
   * threads unchanged. Rejects without changes if they fail to load.
   */
  async replace(
    functions: WorkerOptions["activities"],
    threads: WorkerOptions["activityThreads"],
  ): Promise<readonly string[]> {
    const { timers, codec } = this.#settings;
    const pool = threads === undefined
      ? this.#pool
      : await ActivityPool.open(threads, timers, this.#loading.signal, codec);
    const old = this.#pool;
    const wanted = functions ?? this.#functions;
    try {
      this.#registry = new ActivityRegistry(wanted ?? {}, this.#settings, pool?.names);
    } catch (error) {
      if (pool !== old) await pool?.close();
      throw error;
    }
    this.#functions = wanted;
    this.#pool = pool;
    if (pool !== old && old !== undefined) {
      // It closes after its last activity; only a shutdown waits for that.
      this.#retired.add(old);
      void old.retire().then(() => this.#retired.delete(old));
    }
    return this.#registry.names;
  }

  /** Ends a replacement that is being loaded. */
  stopLoading(reason: Error): void {
    this.#loading.abort(reason);
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await Promise.all([this.#pool, ...this.#retired].map((pool) => pool?.close()));
  }
}
