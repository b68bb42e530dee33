// One worker with a realm, on the host's side: starts it, exchanges messages and watches it.
// Reports once when the realm stops responding or dies; worker_realm.ts decides what happens to its
// work. While work is open the realm sends signs of life several times per window, between
// macrotasks, which a workflow that does not yield prevents. A window counts only if this thread
// ran during it, so a busy or suspended host stops no realm.
import type { FetchHistory } from "../executor/tasks/cached_run.ts";
import type { LineAt } from "../executor/tasks/line_follower.ts";
import {
  type LocalAnswer,
  noLocalActivities,
  type RunLocalActivities,
} from "../executor/tasks/local_work.ts";
import type { LogSink } from "../executor/program/program.ts";
import { messageOf } from "../converter/thrown.ts";
import { startThread, type Thread, type WebWorker } from "../platform/threads.ts";
import type { HostSinks } from "./sinks.ts";
import type { Loss } from "./lost_task.ts";
import { WorkflowLoadError } from "../modules/loader/errors.ts";
import { RealmDisposedError } from "./realm.ts";
import {
  type BatchedMessage,
  detachedCopy,
  type FromRealm,
  type InitMessage,
  type ToRealm,
} from "./protocol.ts";

/** What a realm is started with. */
export type RealmInit = Omit<InitMessage, "t" | "aliveMs" | "sinks">;

/** Everything needed to start a realm repeatedly. */
export interface RealmSpec {
  readonly entry: URL | (() => WebWorker);
  /** May be pending (sources, the compiled core): the worker starts meanwhile. */
  readonly init: RealmInit | Promise<RealmInit>;
  readonly watchdogMs: number;
  readonly startupMs: number;
  readonly maxHeapMb: number | undefined;
  readonly fetchHistory: FetchHistory;
  readonly log: LogSink;
  readonly sinks: HostSinks;
  /**
   * Called when the worker has all that it needs to start: the host can do other work during that
   * time.
   */
  readonly onStarting: (() => void) | undefined;
}

/** A workflow task or a replay. */
export interface Job {
  /** Set for a task. */
  readonly runId: string | undefined;
  /** How often it was open when a realm was lost for an unknown cause. */
  unclear: number;
  /** Runs the local activities of a task. */
  readonly runLocally?: RunLocalActivities | undefined;
  message(id: number): ToRealm;
  done(answer: FromRealm): void;
  fail(error: Error): void;
  /** For a replay with `trace`: event of the workflow task that it has reached. */
  at?: number;
  /** For a replay with `follow`: the line that it has reached. */
  line?: LineAt & { readonly atMs: number };
  /** Called if this job took down the realm. */
  lost(loss: Loss): void;
}

/**
 * `culprit`: the run that the realm was executing, if any. Its job is among `jobs` unless it has
 * been completed.
 */
export type LostHandler = (
  jobs: Job[],
  culprit: { readonly runId: string | undefined; readonly job: Job | undefined } | undefined,
  loss: Loss,
) => void;

const SIGNS_PER_WINDOW = 8;
/** Time in which received messages are delivered to this thread. */
const GRACE_MS = 25;

const BATCHED: ReadonlySet<ToRealm["t"]> = new Set([
  "task",
  "page",
  "noPage",
  "local",
  "reported",
  "evict",
]);

function isBatched(message: ToRealm): message is BatchedMessage {
  return BATCHED.has(message.t);
}

/** The message of a realm that is ready. */
export type Ready = Extract<FromRealm, { t: "ready" }>;

export class RealmThread {
  readonly #spec: RealmSpec;
  readonly #jobs = new Map<number, Job>();
  /** Messages that are sent together. */
  #outbox: BatchedMessage[] = [];
  readonly #lostHandler: LostHandler;
  #thread: Thread | undefined;
  #state: "starting" | "ready" | "ended" = "starting";
  #busy: { readonly id: number; readonly runId: string | undefined } | undefined;
  #nextId = 1;
  #lastSign = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #started: { resolve(ready: Ready): void; reject(error: Error): void } | undefined;
  /** Time of last activity (`performance.now()`, ms). */
  lastUsed = 0;
  /** Number of runs in its memory, as last reported. */
  cachedRuns = 0;

  constructor(spec: RealmSpec, lost: LostHandler) {
    this.#spec = spec;
    this.#lostHandler = lost;
  }

  get openJobs(): number {
    return this.#jobs.size;
  }

  /** Starts the worker and loads the workflows. */
  async start(): Promise<Ready> {
    const spec = this.#spec;
    const started = new Promise<Ready>((resolve, reject) => this.#started = { resolve, reject });
    // The worker may die while its init message is being prepared.
    started.catch(() => {});
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      const events = {
        message: (data: unknown) => this.#receive(data as FromRealm),
        died: (reason: string) => this.#died(reason),
      };
      const options = {
        name: "temporalex-realm",
        ...(spec.maxHeapMb === undefined ? {} : { maxHeapMb: spec.maxHeapMb }),
      };
      const [thread, init] = await Promise.allSettled([
        startThread(spec.entry, events, options),
        spec.init,
      ]);
      if (thread.status === "fulfilled") this.#thread = thread.value;
      if (init.status === "rejected") throw init.reason;
      if (thread.status === "rejected") throw thread.reason;
      if (this.#state === "ended") throw new RealmDisposedError();
      timer = setTimeout(() => {
        this.#started?.reject(
          new Error(
            `the workflow modules were not loaded within ${spec.startupMs} ms: code at their top level does not return`,
          ),
        );
      }, spec.startupMs);
      const aliveMs = spec.watchdogMs > 0
        ? Math.max(10, spec.watchdogMs / SIGNS_PER_WINDOW)
        : 3_600_000;
      thread.value.post(
        { t: "init", ...init.value, sinks: spec.sinks.table, aliveMs } satisfies InitMessage,
      );
      spec.onStarting?.();
      const ready = await started;
      if (this.#state === "starting") this.#state = "ready";
      if (this.#jobs.size === 0) thread.value.hold(false);
      return ready;
    } catch (e) {
      await this.end();
      throw e;
    } finally {
      clearTimeout(timer);
      this.#started = undefined;
    }
  }

  submit(job: Job): void {
    const id = this.#nextId++;
    if (this.#jobs.size === 0) {
      this.#thread!.hold(true);
      this.#lastSign = performance.now();
    }
    this.#jobs.set(id, job);
    this.lastUsed = performance.now();
    this.#post(job.message(id));
    this.#watch();
  }

  post(message: ToRealm): void {
    if (this.#state === "ready") this.#post(message);
  }

  /**
   * Messages caused by one batch of service responses are sent together, at the end of the first
   * round of microtasks of this macrotask.
   */
  #post(message: ToRealm): void {
    if (!isBatched(message)) {
      this.#flush();
      this.#thread!.post(message);
      return;
    }
    if (this.#outbox.push(message) === 1) queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    const messages = this.#outbox;
    if (messages.length === 0) return;
    this.#outbox = [];
    if (this.#state !== "ended") {
      this.#thread!.post(
        messages.length === 1 ? messages[0] : { t: "batch", messages } satisfies ToRealm,
      );
    }
  }

  /** Ends the worker and returns its jobs, which the caller settles. */
  async end(): Promise<Job[]> {
    const jobs = this.#takeJobs();
    this.#state = "ended";
    this.#started?.reject(new RealmDisposedError());
    await this.#thread?.terminate();
    return jobs;
  }

  #takeJobs(): Job[] {
    const jobs = [...this.#jobs.values()];
    this.#jobs.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return jobs;
  }

  #receive(message: FromRealm): void {
    if (this.#state === "ended") return;
    if (message.t === "line") {
      const job = this.#jobs.get(message.id);
      if (job !== undefined) job.line = { ...message.at, atMs: performance.now() };
      return;
    }
    this.#lastSign = performance.now();
    switch (message.t) {
      case "ready":
        return this.#started?.resolve(message);
      case "refused": {
        const { problems } = message;
        return this.#started?.reject(
          problems === undefined ? new Error(message.message) : new WorkflowLoadError(problems),
        );
      }
      case "busy":
        this.#busy = { id: message.id, runId: this.#jobs.get(message.id)?.runId };
        return;
      case "alive":
        return;
      case "cached":
        this.cachedRuns = message.runs;
        return;
      case "at": {
        const job = this.#jobs.get(message.id);
        if (job !== undefined) job.at = message.eventId;
        return;
      }
      case "log":
        return this.#spec.log.write(message.entry);
      case "sink":
        return this.#spec.sinks.call(message.call);
      case "fetch":
        return void this.#fetch(message);
      case "local":
        return void this.#runLocally(message);
      case "trapped":
        return this.#lose({ kind: "trapped", reason: message.message });
      case "outcome":
      case "verdict":
      case "error": {
        const job = this.#jobs.get(message.id);
        if (message.t === "outcome") this.cachedRuns = message.cachedRuns;
        if (message.t === "verdict" && message.next !== undefined) {
          this.#busy = { id: message.next, runId: undefined };
        }
        this.#jobs.delete(message.id);
        this.lastUsed = this.#lastSign;
        if (this.#jobs.size === 0) {
          clearTimeout(this.#timer);
          this.#timer = undefined;
          this.#thread!.hold(false);
        }
        // Time spent in host functions that the task called does not count.
        const runId = message.t === "verdict" ? message.verdict.runId : job?.runId;
        const called = runId === undefined ? undefined : this.#spec.sinks.settled(runId);
        if (called === undefined) return job?.done(message);
        return void called.then(() => job?.done(message));
      }
    }
  }

  async #fetch(
    { id, workflowId, runId, nextPageToken }: Extract<FromRealm, { t: "fetch" }>,
  ): Promise<void> {
    let answer: ToRealm;
    try {
      const { history, nextPageToken: next } = await this.#spec.fetchHistory(
        workflowId,
        runId,
        nextPageToken,
      );
      answer = { t: "page", id, history: detachedCopy(history), nextPageToken: detachedCopy(next) };
    } catch (e) {
      answer = { t: "noPage", id, message: e instanceof Error ? e.message : String(e) };
    }
    this.post(answer);
  }

  async #runLocally({ id, work }: Extract<FromRealm, { t: "local" }>): Promise<void> {
    let answer: LocalAnswer;
    try {
      answer = await (this.#jobs.get(id)?.runLocally ?? noLocalActivities)(work);
    } catch (e) {
      answer = { resolutions: [], failure: messageOf(e) };
    }
    this.post({ t: "local", id, answer });
  }

  #died(reason: string): void {
    if (this.#started !== undefined) {
      this.#started.reject(new Error(`the realm's worker could not be started: ${reason}`));
    } else this.#lose({ kind: "crashed", reason });
  }

  /** Marks the realm as lost. */
  #lose(loss: Loss): void {
    if (this.#state === "ended") return;
    const busy = this.#busy === undefined
      ? undefined
      : { runId: this.#busy.runId, job: this.#jobs.get(this.#busy.id) };
    const jobs = this.#takeJobs();
    // The only open job must be the culprit; after a trap it may already be completed.
    const culprit = busy !== undefined && (busy.job !== undefined || loss.kind === "trapped")
      ? busy
      : jobs.length === 1 && loss.kind !== "trapped"
      ? { runId: jobs[0]!.runId, job: jobs[0] }
      : undefined;
    this.#state = "ended";
    void this.#thread?.terminate();
    this.#lostHandler(jobs, culprit, loss);
  }

  #watch(): void {
    const { watchdogMs } = this.#spec;
    if (watchdogMs <= 0 || this.#timer !== undefined || this.#jobs.size === 0) return;
    const due = Math.max(GRACE_MS, this.#lastSign + watchdogMs - performance.now());
    const armed = performance.now();
    this.#timer = setTimeout(() => {
      const late = performance.now() - armed - due;
      // This thread was delayed: messages of the realm may still be in flight.
      if (late > watchdogMs / 4) this.#lastSign = performance.now();
      if (performance.now() - this.#lastSign < watchdogMs) return this.#rearm();
      const before = this.#lastSign;
      this.#timer = setTimeout(() => {
        if (this.#lastSign > before) this.#rearm();
        else this.#lose({ kind: "spun", afterMs: watchdogMs });
      }, GRACE_MS);
    }, due);
  }

  #rearm(): void {
    this.#timer = undefined;
    this.#watch();
  }
}
