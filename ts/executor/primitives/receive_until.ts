// `until` of a receive: what ends it when nothing of it is in flight. It is asked at the end of an activation in which something has been
// handled that history records, and before a message is handled: so replay asks at the same points. An update that was rejected is none
// of them, because history has nothing of it. Not earlier: signals that came with the same task would have to go to the next run.
import { current, inClosure } from "../program/current.ts";
import { MisuseError, taskErrorOf } from "../program/errors.ts";
import { signalsFit } from "../scheduler/next_run_headers.ts";
import type { Fiber } from "../scheduler/fiber.ts";

/**
 * So many messages are taken while it is true and something is always in flight or waiting. Then no further one is, so that a receive
 * whose handlers overlap without end comes to its end before its history does. By number: a server has room for 200 updates after its
 * suggestion.
 */
const MESSAGES_AFTER_UNTIL = 100;

export class Until {
  readonly #fiber: Fiber;
  readonly #predicate: (state: unknown) => unknown;
  /** Something has changed since it was asked last. */
  #changed = true;
  #late = 0;

  /** `fiber`: of the run function that receives. */
  constructor(fiber: Fiber, predicate: (state: unknown) => unknown) {
    this.#fiber = fiber;
    this.#predicate = predicate;
  }

  /** Something has ended that may have made it true. */
  changed(): void {
    this.#changed = true;
  }

  /** Whether the receive ends here, where nothing of it is in flight. */
  isOver(state: unknown): boolean {
    if (!this.#changed) return false;
    this.#changed = false;
    return this.#ask(state);
  }

  /**
   * A message is handled now; `overlaps`: others are in flight, or wait. Returns whether it is the last one that is taken: what waits then
   * must fit into the next run.
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
        throw new MisuseError(`until of receive must return true or false synchronously, not ${describe(answer)}`);
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
