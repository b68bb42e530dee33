// Runs whose commands the service has refused. It fails such a task by itself and gives the next attempt at once, so a worker that took each
// of them would ask for the same thing without a pause. After the second refusal in a row every other attempt is left to its timeout, from
// which on the service backs off, as for every other task that fails.

/** What is noted of a task. */
interface Attempt {
  readonly runId: string;
  readonly attempt: number;
  readonly query?: unknown;
}

interface Refusal {
  readonly message: string;
  /** The next attempt is not run. */
  readonly wait: boolean;
}

/** So many runs are remembered; the oldest goes first. */
const MAX_RUNS = 10_000;

export class Refusals {
  readonly #runs = new Map<string, Refusal>();

  /** A task's commands were refused. Answers whether that is news: the first time, or for another reason. */
  note({ runId, attempt }: Attempt, message: string): boolean {
    const news = this.#runs.get(runId)?.message !== message;
    this.#runs.delete(runId);
    this.#runs.set(runId, { message, wait: attempt > 1 });
    if (this.#runs.size > MAX_RUNS) this.#runs.delete(this.#runs.keys().next().value!);
    return news;
  }

  /** The attempt is to be left to its timeout. The one after it is not. */
  waits({ runId, attempt, query }: Attempt): boolean {
    if (query !== undefined || this.#runs.size === 0) return false;
    const refusal = this.#runs.get(runId);
    if (refusal === undefined || !refusal.wait) return false;
    this.#runs.set(runId, { ...refusal, wait: false });
    // The first attempt of a task: something new has happened.
    return attempt > 1;
  }

  /** The service took what a task came to. */
  forget(runId: string): void {
    this.#runs.delete(runId);
  }
}
