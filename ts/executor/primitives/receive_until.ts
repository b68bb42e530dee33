// `until` of a receive ends it when nothing is in flight. It is evaluated at the end of an
// activation with handled messages that history records, and before a message is handled, so replay
// evaluates it at the same points. Rejected updates do not count, because history lacks them.
import { current, inClosure } from "../program/current.ts";
import { MisuseError, taskErrorOf } from "../program/errors.ts";
import { signalsFit } from "../scheduler/next_run_headers.ts";
import type { Fiber } from "../scheduler/fiber.ts";

/**
 * Maximum messages taken while `until` is true and others are in flight or waiting. It bounds a
 * receive whose handlers overlap without end; a server accepts 200 more updates after its
 * suggestion.
 */
const MESSAGES_AFTER_UNTIL = 100;

export class Until {
  readonly #fiber: Fiber;
  readonly #predicate: (state: unknown) => unknown;
  /** Something changed since the last evaluation. */
  #changed = true;
  #late = 0;

  /** `fiber`: the fiber of the run function that receives. */
  constructor(fiber: Fiber, predicate: (state: unknown) => unknown) {
    this.#fiber = fiber;
    this.#predicate = predicate;
  }

  /** Records a change that may have made it true. */
  changed(): void {
    this.#changed = true;
  }

  /** Whether the receive ends here. Call while nothing is in flight. */
  isOver(state: unknown): boolean {
    if (!this.#changed) return false;
    this.#changed = false;
    return this.#ask(state);
  }

  /**
   * Called before a message is handled; `overlaps`: others are in flight or waiting. Returns
   * whether it is the last one: what waits then must fit into the next run.
   */
  isLast(state: unknown, overlaps: boolean): boolean {
    if (!this.#ask(state)) this.#late = 0;
    else if (overlaps) this.#late++;
    return this.#late >= MESSAGES_AFTER_UNTIL && signalsFit(this.#fiber.run.inbox.signals());
  }

  #ask(state: unknown): boolean {
    const { run } = this.#fiber;
    const before = current.fiber;
    current.fiber = this.#fiber;
    try {
      const answer = inClosure("until", () => this.#predicate(state));
      if (typeof answer !== "boolean") {
        throw new MisuseError(
          `until of receive must return true or false synchronously, not ${describe(answer)}`,
        );
      }
      return answer;
    } catch (e) {
      run.fail(taskErrorOf(e, "until of receive"));
      return false;
    } finally {
      current.fiber = before;
    }
  }
}

function describe(answer: unknown): string {
  if (typeof answer !== "object" || answer === null) return String(answer);
  return typeof (answer as PromiseLike<unknown>).then === "function" ? "a promise" : "an object";
}
