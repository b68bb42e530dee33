// The connections to one address: as few as will do. Mostly that is one; another is made when the server takes no more calls on it (it says
// how many), or has said goodbye (GOAWAY: servers behind a balancer do so every few minutes, and finish the calls that they have).
// One attempt to connect is under way at most, and all who wait share its outcome; after a failure the next one waits (back-off with
// jitter), so an address where nobody is costs little however many ask. A connection that ends soon and has answered nothing failed, too.
// Calls for which the server has no room, and will have none on another connection, wait until one ends, and are served in the order in
// which they came: room is given to the one that has waited longest, and nobody who comes later sees it.
import { Code, ServiceError } from "../service/raw.ts";
import { backoffMs, type BackoffOptions } from "../service/retry.ts";
import { realTimers, sleepOn } from "../base/timers.ts";
import { Link, type LinkTimes } from "./http2_link.ts";
import { LinkError, type LinkTarget } from "./link_target.ts";

/** Reason of the ServiceError of a call that was never sent, because there was no connection. */
export const NOT_CONNECTED = "NotConnected";

const BACKOFF: BackoffOptions = { initialIntervalMs: 50, maximumIntervalMs: 3000, backoffCoefficient: 1.6, jitter: 0.3 };
/** Above this, calls wait until the connections that are there have room. */
const MAX_LINKS = 64;
/** A server that takes no calls at all on so many connections would take none on another one. */
const MAX_SHUT = 2;
/** A connection without calls whose server takes none for so long is given up for another one. */
const SHUT_MS = 5000;
/** A connection that ends before this, with nothing answered, was none. */
const PROOF_MS = 5000;
/** Timers take no more. */
const LONGEST_MS = 2 ** 31 - 1;

/** A call that waits for room. */
interface Waiting {
  /** Its place: lower ones are served first. */
  readonly turn: number;
  /** Has it look again; or gives it a connection, where room is kept for it. */
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
  /** Calls that wait for room, the oldest first. */
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

  /** A connection that takes a call now; undefined when one has to be made, or asked whether it still is one, or others wait already. */
  ready(): Link | undefined {
    this.#serve();
    return this.#free();
  }

  #free(): Link | undefined {
    for (const link of this.#links) if (link.usable && link.hasRoom && !link.doubtful) return link;
    return undefined;
  }

  /** Gives the room that there is to those who have waited longest. */
  #serve(): void {
    while (this.#queue.length > 0) {
      const link = this.#free();
      if (link === undefined) return;
      const first = this.#queue.shift()!;
      link.reserved++;
      first.wake(first.link = link);
    }
  }

  /** The place of a call among those that wait; it keeps its place if it has to wait again. */
  turn(): number {
    return this.#turns++;
  }

  /**
   * Makes one, asks one that was silent, or waits until one has room; then `take` is to be called with what this resolves to, because others
   * may have come first. `until` ends the wait: it rejects with what the caller shall be told. Rejects with UNAVAILABLE, reason
   * NotConnected, when the attempt fails that it waited for: nothing of the call was sent.
   */
  async more(turn: number, until: Promise<never>): Promise<Link | undefined> {
    for (const link of [...this.#links]) {
      if (link.openCalls === 0 && (link.shutForMs ?? 0) > SHUT_MS) link.destroy(new LinkError("the server accepted no calls"));
    }
    const silent = [...this.#links].find((each) => each.usable && each.hasRoom && each.doubtful);
    if (silent === undefined && this.#full) return await this.#room(turn, until);
    await Promise.race([silent?.ping() ?? (this.#connecting ??= this.#connect()), until]);
    return undefined;
  }

  /** The connection that `more` has kept room on, if it still is one, or another that is ready. */
  take(kept: Link | undefined): Link | undefined {
    if (kept === undefined) return this.ready();
    kept.reserved--;
    return kept.usable ? kept : this.ready();
  }

  /** Why a call is not sent; undefined when nothing is known that keeps it. */
  get trouble(): string | undefined {
    return this.#full ? `${this.#target.address} accepts no more calls at the moment` : this.#lastFailure?.message;
  }

  /** Another connection would not help. */
  get #full(): boolean {
    const alive = [...this.#links].filter((link) => link.usable && !link.doubtful);
    return alive.filter((link) => link.shutForMs !== undefined).length >= MAX_SHUT ||
      (alive.length > 0 && this.#links.size >= MAX_LINKS);
  }

  /** Waits until room is kept for it (a connection), or there may be another way to some (undefined). */
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
      // It was given room as its time ended: then that is the next one's.
      else if (waiting.link !== undefined) waiting.link.reserved--;
      this.roomy();
      throw error;
    }
  }

  /** There may be room for those who wait; also to be called by one that was given a connection and does not need it any more. */
  roomy(): void {
    if (this.#queue.length === 0) return;
    this.#serve();
    // What they wait for has another end now: a connection more.
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
      // It may have ended since it was made.
      if (this.#closing.signal.aborted) link.destroy(new LinkError("the connection is closed"));
      if (link.ended !== undefined) throw new LinkError(`cannot use the connection to ${address}: ${link.ended.message}`);
      this.#add(link);
    } catch (error) {
      this.#failed(this.#failures + 1, error);
      const { message, code = "", setup = "no" } = error as LinkError;
      throw new ServiceError(Code.UNAVAILABLE, message, NOT_CONNECTED, { address, code: String(code), setup }, { cause: error });
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
      if (!link.proven && performance.now() - made < PROOF_MS) this.#failed(Math.max(before, this.#failures) + 1, reason);
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
