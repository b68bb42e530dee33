// The embedded engine's state machine. For its contract with store and host see
// core-rs/src/engine/mod.rs.
import type { Engine as RawEngine, Glue } from "./generated/engine.js";
import {
  Flush,
  RunRecord,
  TransactOutcome,
} from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { EngineMethod } from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
import { CoreHandle } from "./handle.ts";

/** The embedded engine's state machine, as its host uses it. */
export class CoreEngine extends CoreHandle<RawEngine, Glue> {
  /** Enters a request (encoded message of the method); its reply has `requestId`. */
  request(requestId: number, method: EngineMethod, body: Uint8Array, nowMs: number): void {
    this.guard((raw) => raw.request(requestId, method, body, nowMs));
  }

  /** Responds to a LoadRequest. */
  load(record: RunRecord, nowMs: number): void {
    this.guard((raw) => raw.load(RunRecord.encode(record).finish(), nowMs));
  }

  /** Fires what is due. */
  tick(nowMs: number): void {
    this.guard((raw) => raw.tick(nowMs));
  }

  /** The caller is gone: no reply is made, and a task meant for it stays in its queue. */
  cancelRequest(requestId: number): void {
    this.guard((raw) => raw.cancel_request(requestId));
  }

  /** A long poll has reached its limit: its reply has no result. */
  expireRequest(requestId: number): void {
    this.guard((raw) => raw.expire_request(requestId));
  }

  /** Removes a purged run from memory. */
  forget(runId: string): void {
    this.guard((raw) => raw.forget(runId));
  }

  /** Enters an update-with-start as one step. The reply has both responses, in fields 1 and 2. */
  requestPair(requestId: number, start: Uint8Array, update: Uint8Array, nowMs: number): void {
    this.guard((raw) => raw.request_pair(requestId, start, update, nowMs));
  }

  /**
   * The tasks of a queue, in rows of six numbers: 0 for workflow tasks or 1 for activity tasks, the
   * priority key, how many wait, age of the oldest in ms, and how many came and went per second.
   */
  backlog(queue: string, nowMs: number): Float64Array {
    return this.guard((raw) => raw.backlog(queue, nowMs));
  }

  /**
   * Takes one task of the limits of an activity queue. Returns 0, or the time in ms at which a task
   * may leave: Infinity while the limits stay.
   */
  takeActivityToken(queue: string, fairnessKey: string, weight: number, nowMs: number): number {
    return this.guard((raw) => raw.take_activity_token(queue, fairnessKey, weight, nowMs));
  }

  /** Returns the changes since the last flush; call `committed` or `aborted` afterwards. */
  flush(): Flush {
    return Flush.decode(this.guard((raw) => raw.flush()));
  }

  /** Enters the results of a task's reducers; returns false if the core rejected the completion. */
  transacted(outcome: TransactOutcome): boolean {
    return this.guard((raw) => raw.transacted(TransactOutcome.encode(outcome).finish()));
  }

  /**
   * Begins a trial of a transaction's messages on copies of the runs that they name
   * (core-rs/src/engine/trial.rs).
   */
  beginTrial(nowMs: number): void {
    this.guard((raw) => raw.begin_trial(nowMs));
  }

  /** Tries a request: returns its reply, or loads to enter with `tryLoad`. */
  tryRequest(requestId: number, method: EngineMethod, body: Uint8Array): Flush {
    return Flush.decode(this.guard((raw) => raw.try_request(requestId, method, body)));
  }

  /** Enters a run that the trial needs. */
  tryLoad(record: RunRecord): Flush {
    return Flush.decode(this.guard((raw) => raw.try_load(RunRecord.encode(record).finish())));
  }

  /** Drops the trial. */
  endTrial(): void {
    this.guard((raw) => raw.end_trial());
  }

  /**
   * Returns the reply to a request that has just entered, or loads that it waits for. With 0:
   * carries out the orders of runs to other runs, and returns loads for that.
   */
  entered(requestId: number): Flush {
    return Flush.decode(this.guard((raw) => raw.entered(requestId)));
  }

  /** The store has committed the last flush; its replies may be sent. */
  committed(): void {
    this.guard((raw) => raw.committed());
  }

  /** The store did not commit: every run of the flush is evicted. */
  aborted(): void {
    this.guard((raw) => raw.aborted());
  }
}
