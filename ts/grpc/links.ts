// The connections to one address, usually one. Another is made when the server's limit of
// concurrent calls is reached, or after GOAWAY (servers behind a balancer send it every few
// minutes). At most one attempt to connect is in progress, shared by all waiting calls; failures
// cause backoff with jitter. Connections that end early without a response count as failures.
// Waiting calls get room in the order of arrival.
import { Code, ServiceError } from "../service/raw.ts";
import { backoffMs, type BackoffOptions } from "../service/retry.ts";
import { realTimers, sleepOn } from "../base/timers.ts";
import { Link, type LinkTimes } from "./http2_link.ts";
import { LinkError, type LinkTarget } from "./link_target.ts";

/** Reason of the ServiceError of a call that was not sent because no connection was open. */
export const NOT_CONNECTED = "NotConnected";

const BACKOFF: BackoffOptions = {
  initialIntervalMs: 50,
  maximumIntervalMs: 3000,
  backoffCoefficient: 1.6,
  jitter: 0.3,
};
/** Maximum connections; further calls wait for room. */
const MAX_LINKS = 64;
/** Maximum connections on which the server accepts no calls: another one would not help. */
const MAX_SHUT = 2;
/** Time after which an unused connection without accepted calls is replaced. */
const SHUT_MS = 5000;
/** A connection that ends earlier, without a response, counts as a failed attempt. */
const PROOF_MS = 5000;
/** Maximum delay of a timer. */
const LONGEST_MS = 2 ** 31 - 1;

interface Waiting {
  /** Position in the queue; lower ones are served first. */
  readonly turn: number;
  /** Wakes the call, with a connection if room is reserved there. */
  readonly wake: (link: Link | undefined) => void;
  link: Link | undefined;
}

export class Links {
  readonly #target: LinkTarget;
  #times: LinkTimes;
  readonly #links = new Set<Link>();
  #connecting: Promise<void> | undefined;
  #failures = 0;
  #failedAt = 0;
  #lastFailure: LinkError | undefined;
  /** Calls that wait for room, oldest first. */
  readonly #queue: Waiting[] = [];
  #turns = 0;
  readonly #closing = new AbortController();

  constructor(target: LinkTarget, times: LinkTimes) {
    this.#target = target;
    this.#times = {
      connectMs: Math.min(times.connectMs, LONGEST_MS),
      pingMs: Math.min(times.pingMs, LONGEST_MS),
      pongMs: Math.min(times.pongMs, LONGEST_MS),
    };
  }

  /**
   * Returns a connection that accepts a call now; undefined if one must be made or pinged first, or
   * if others wait.
   */
  ready(): Link | undefined {
    this.#serve();
    return this.#free();
  }

  #free(): Link | undefined {
    for (const link of this.#links) if (link.usable && link.hasRoom && !link.doubtful) return link;
    return undefined;
  }

  /** Assigns available room to the calls that have waited longest. */
  #serve(): void {
    while (this.#queue.length > 0) {
      const link = this.#free();
      if (link === undefined) return;
      const first = this.#queue.shift()!;
      link.reserved++;
      first.wake(first.link = link);
    }
  }

  /** Returns the queue position of a call, which keeps it if it must wait again. */
  turn(): number {
    return this.#turns++;
  }

  /**
   * Connects, pings a silent connection, or waits for room; then call `take` with the result,
   * because other calls may have been first. `until` ends the wait with its rejection. Rejects with
   * UNAVAILABLE, reason NotConnected, if the attempt fails: nothing of the call was sent.
   */
  async more(turn: number, until: Promise<never>): Promise<Link | undefined> {
    for (const link of [...this.#links]) {
      if (link.openCalls === 0 && (link.shutForMs ?? 0) > SHUT_MS) {
        link.destroy(
          new LinkError("the server did not accept new calls on this connection for too long"),
        );
      }
    }
    const silent = [...this.#links].find((each) => each.usable && each.hasRoom && each.doubtful);
    if (silent === undefined && this.#full) return await this.#room(turn, until);
    await Promise.race([silent?.ping() ?? (this.#connecting ??= this.#connect()), until]);
    return undefined;
  }

  /**
   * Returns the connection on which `more` reserved room, if it is still usable, or another one
   * that is ready.
   */
  take(kept: Link | undefined): Link | undefined {
    if (kept === undefined) return this.ready();
    kept.reserved--;
    return kept.usable ? kept : this.ready();
  }

  /** Describes why calls are not sent; undefined if no reason is known. */
  get trouble(): string | undefined {
    return this.#full
      ? `${this.#target.address} accepts no more calls at the moment`
      : this.#lastFailure?.message;
  }

  /** True if another connection would not help. */
  get #full(): boolean {
    const alive = [...this.#links].filter((link) => link.usable && !link.doubtful);
    return alive.filter((link) => link.shutForMs !== undefined).length >= MAX_SHUT ||
      (alive.length > 0 && this.#links.size >= MAX_LINKS);
  }

  /** Waits for reserved room (returns the connection), or for a chance to get some (undefined). */
  async #room(turn: number, until: Promise<never>): Promise<Link | undefined> {
    let wake: Waiting["wake"] = () => {};
    const woken = new Promise<Link | undefined>((resolve) => (wake = resolve));
    const waiting: Waiting = { turn, wake, link: undefined };
    let at = this.#queue.length;
    while (at > 0 && this.#queue[at - 1]!.turn > turn) at--;
    this.#queue.splice(at, 0, waiting);
    try {
      return await Promise.race([woken, until]);
    } catch (error) {
      const left = this.#queue.indexOf(waiting);
      if (left >= 0) this.#queue.splice(left, 1);
      // Room was reserved as its time ended: the next call gets it.
      else if (waiting.link !== undefined) waiting.link.reserved--;
      this.roomy();
      throw error;
    }
  }

  /** Called when there may be room, also by a call that no longer needs its reserved connection. */
  roomy(): void {
    if (this.#queue.length === 0) return;
    this.#serve();
    // Another connection would help now.
    if (!this.#full) { for (const { wake } of this.#queue.splice(0)) wake(undefined); }
  }

  close(reason: LinkError): void {
    this.#closing.abort();
    for (const link of [...this.#links]) link.destroy(reason);
  }

  async #connect(): Promise<void> {
    const { address } = this.#target;
    try {
      if (this.#failures > 0) {
        const left = this.#failedAt + backoffMs(this.#failures, BACKOFF) - performance.now();
        if (left > 0) await sleepOn(realTimers, left, this.#closing.signal);
      }
      const link = await Link.open(this.#target, this.#times, this.#closing.signal);
      // The set may have been closed during the attempt.
      if (this.#closing.signal.aborted) link.destroy(new LinkError("the connection is closed"));
      if (link.ended !== undefined) {
        throw new LinkError(`cannot use the connection to ${address}: ${link.ended.message}`);
      }
      this.#add(link);
    } catch (error) {
      this.#failed(this.#failures + 1, error);
      const { message, code = "", setup = "no" } = error as LinkError;
      throw new ServiceError(Code.UNAVAILABLE, message, NOT_CONNECTED, {
        address,
        code: String(code),
        setup,
      }, { cause: error });
    } finally {
      this.#connecting = undefined;
    }
  }

  #add(link: Link): void {
    const [before, made] = [this.#failures, performance.now()];
    this.#failures = 0;
    this.#lastFailure = undefined;
    link.onEnd = (reason) => {
      this.#links.delete(link);
      if (!link.proven && performance.now() - made < PROOF_MS) {
        this.#failed(Math.max(before, this.#failures) + 1, reason);
      }
      this.roomy();
    };
    link.onRoom = () => this.roomy();
    link.onTooManyPings = () => {
      this.#times = { ...this.#times, pingMs: Math.min(2 * this.#times.pingMs, LONGEST_MS) };
    };
    this.#links.add(link);
  }

  #failed(failures: number, error: unknown): void {
    this.#failures = failures;
    this.#failedAt = performance.now();
    if (error instanceof LinkError) this.#lastFailure = error;
  }
}
