// The connections to one address: as few as will do. Mostly that is one; another is made when the server takes no more calls on it (it says
// how many), or has said goodbye (GOAWAY: servers behind a balancer do so every few minutes, and finish the calls that they have).
// One attempt to connect is under way at most, and all who wait share its outcome; after a failure the next one waits (back-off with
// jitter), so an address where nobody is costs little however many ask.
import { Code, ServiceError } from "../service/raw.ts";
import { backoffMs, type BackoffOptions } from "../service/retry.ts";
import { realTimers, sleepOn } from "../service/timers.ts";
import { Link, LinkError, type LinkTarget, type LinkTimes } from "./http2_link.ts";

/** Reason of the ServiceError of a call that was never sent, because there was no connection. */
export const NOT_CONNECTED = "NotConnected";

const BACKOFF: BackoffOptions = { initialIntervalMs: 50, maximumIntervalMs: 3000, backoffCoefficient: 1.6, jitter: 0.3 };
/** Above this, calls queue on the connections that are there, whatever the server says. */
const MAX_LINKS = 64;

export class Links {
  readonly #target: LinkTarget;
  #times: LinkTimes;
  readonly #links = new Set<Link>();
  #connecting: Promise<void> | undefined;
  #failures = 0;
  #failedAt = 0;
  #lastFailure: LinkError | undefined;
  readonly #closing = new AbortController();

  constructor(target: LinkTarget, times: LinkTimes) {
    this.#target = target;
    this.#times = times;
  }

  /** A connection that takes a call now; undefined when one has to be made, or asked whether it still is one. */
  ready(): Link | undefined {
    for (const link of this.#links) if (link.usable && link.hasRoom && !link.doubtful) return link;
    if (this.#links.size < MAX_LINKS) return undefined;
    const usable = [...this.#links].filter((link) => link.usable && !link.doubtful);
    return usable.sort((a, b) => a.openCalls - b.openCalls)[0];
  }

  /**
   * Makes one, or asks one that was silent; then `ready` is to be asked again, because others may have come first. `until` ends the wait:
   * it rejects with what the caller shall be told. Rejects with UNAVAILABLE, reason NotConnected, when the attempt fails that it waited
   * for: nothing of the call was sent.
   */
  async more(until: Promise<never>): Promise<void> {
    const silent = [...this.#links].find((each) => each.usable && each.hasRoom && each.doubtful);
    await Promise.race([silent?.ping() ?? (this.#connecting ??= this.#connect()), until]);
  }

  /** Why there is no connection; undefined when there is one, or none was tried. */
  get trouble(): string | undefined {
    return this.#lastFailure?.message;
  }

  close(reason: LinkError): void {
    this.#closing.abort();
    for (const link of [...this.#links]) link.destroy(reason);
  }

  async #connect(): Promise<void> {
    try {
      if (this.#failures > 0) {
        const left = this.#failedAt + backoffMs(this.#failures, BACKOFF) - performance.now();
        if (left > 0) await sleepOn(realTimers, left, this.#closing.signal);
      }
      const link = await Link.open(this.#target, this.#times, this.#closing.signal);
      this.#failures = 0;
      this.#lastFailure = undefined;
      link.onEnd = () => this.#links.delete(link);
      link.onTooManyPings = () => (this.#times = { ...this.#times, pingMs: this.#times.pingMs * 2 });
      this.#links.add(link);
    } catch (error) {
      this.#failures++;
      this.#failedAt = performance.now();
      if (error instanceof LinkError) this.#lastFailure = error;
      const { address } = this.#target;
      const { message, code = "", setup = "no" } = error as LinkError;
      throw new ServiceError(Code.UNAVAILABLE, message, NOT_CONNECTED, { address, code: String(code), setup }, { cause: error });
    } finally {
      this.#connecting = undefined;
    }
  }
}
