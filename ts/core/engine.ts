// The embedded engine's state machine in the core. The contract between it, the store and the host is in core-rs/src/engine/mod.rs.
import type { Engine as RawEngine, Glue } from "./generated/engine.js";
import { Flush, RunRecord, TransactOutcome } from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { EngineMethod } from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
import { CoreHandle } from "./handle.ts";

/** The embedded engine's state machine, as its host drives it. */
export class CoreEngine extends CoreHandle<RawEngine, Glue> {
  /** A request of a client or worker (bytes of the method's request message); its reply carries `requestId`. */
  request(requestId: number, method: EngineMethod, body: Uint8Array, nowMs: number): void {
    this.guard((raw) => raw.request(requestId, method, body, nowMs));
  }

  /** Answers a LoadRequest. */
  load(record: RunRecord, nowMs: number): void {
    this.guard((raw) => raw.load(RunRecord.encode(record).finish(), nowMs));
  }

  /** Fires what is due. */
  tick(nowMs: number): void {
    this.guard((raw) => raw.tick(nowMs));
  }

  /** The caller of a request has gone: no reply is made, and a task that was meant for it stays in its queue. */
  cancelRequest(requestId: number): void {
    this.guard((raw) => raw.cancel_request(requestId));
  }

  /** The call has waited as long as a server lets it: it is answered without a result. */
  expireRequest(requestId: number): void {
    this.guard((raw) => raw.expire_request(requestId));
  }

  /** The store has purged a closed run: memory does not answer for it any longer. */
  forget(runId: string): void {
    this.guard((raw) => raw.forget(runId));
  }

  /** An update-with-start: both requests in one step. The reply has both responses, in fields 1 and 2. */
  requestPair(requestId: number, start: Uint8Array, update: Uint8Array, nowMs: number): void {
    this.guard((raw) => raw.request_pair(requestId, start, update, nowMs));
  }

  /** What waits in a task queue: workflow tasks, for how many milliseconds the oldest; activity tasks, and the same. */
  backlog(queue: string, nowMs: number): Float64Array {
    return this.guard((raw) => raw.backlog(queue, nowMs));
  }

  /** What changed since the last flush; then commit and call `committed` or `aborted`. */
  flush(): Flush {
    return Flush.decode(this.guard((raw) => raw.flush()));
  }

  /** What the reducers of a task came to; false: the core did not complete the task with it. */
  transacted(outcome: TransactOutcome): boolean {
    return this.guard((raw) => raw.transacted(TransactOutcome.encode(outcome).finish()));
  }

  /** The store has kept what the last flush wrote; its replies may leave. */
  committed(): void {
    this.guard((raw) => raw.committed());
  }

  /** The store has not kept it: every run that the flush touched is dropped from memory. */
  aborted(): void {
    this.guard((raw) => raw.aborted());
  }
}
