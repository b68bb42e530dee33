// Runs whose commands the service rejected. The service fails such a task and dispatches the next
// attempt at once, which would repeat without a pause. After two rejections in a row every other
// attempt is left to time out, so that the service backs off.

/** A task, as far as needed here. */
interface Attempt {
  readonly runId: string;
  readonly attempt: number;
  readonly query?: unknown;
}

interface Refusal {
  readonly message: string;
  /** Skip the next attempt. */
  readonly wait: boolean;
}

/** Maximum remembered runs; the oldest is removed first. */
const MAX_RUNS = 10_000;

export class Refusals {
  readonly #runs = new Map<string, Refusal>();

  /** Records rejected commands. Returns whether this is the first time, or the message is new. */
  note({ runId, attempt }: Attempt, message: string): boolean {
    const news = this.#runs.get(runId)?.message !== message;
    this.#runs.delete(runId);
    this.#runs.set(runId, { message, wait: attempt > 1 });
    if (this.#runs.size > MAX_RUNS) this.#runs.delete(this.#runs.keys().next().value!);
    return news;
  }

  /** Whether to skip this attempt, which then times out. The one after it runs. */
  waits({ runId, attempt, query }: Attempt): boolean {
    if (query !== undefined || this.#runs.size === 0) return false;
    const refusal = this.#runs.get(runId);
    if (refusal === undefined || !refusal.wait) return false;
    this.#runs.set(runId, { ...refusal, wait: false });
    // The first attempt of a task: there are new events.
    return attempt > 1;
  }

  /** Removes a run whose completion was accepted. */
  forget(runId: string): void {
    this.#runs.delete(runId);
  }
}
