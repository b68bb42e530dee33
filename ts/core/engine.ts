// The embedded engine's state machine in the core. The contract between it, the store and the host is in core-rs/src/engine/mod.rs.
import type { Engine as RawEngine } from "./generated/core.js";
import { Flush, RunRecord } from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { EngineMethod } from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
import { CoreHandle } from "./handle.ts";

export class CoreEngine extends CoreHandle<RawEngine> {
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

  /** What changed since the last flush; then commit and call `committed` or `aborted`. */
  flush(): Flush {
    return Flush.decode(this.guard((raw) => raw.flush()));
  }

  committed(): void {
    this.guard((raw) => raw.committed());
  }

  aborted(): void {
    this.guard((raw) => raw.aborted());
  }
}
