// Durable timers: sleep, the timeout of a receive, arms of a select. A timer that is started and
// canceled in one activation leaves no event (the core ensures it). A cancellation has no job in
// response, so the awaiter settles by itself.
import {
  CommandKind,
  StartTimer,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { defaultPayloadConverter } from "../../converter/payload.ts";
import { encodeWith, wire, type WirePayload } from "../program/encode.ts";
import { Awaiter, type Fiber, type Leftover } from "../scheduler/fiber.ts";
import type { TimerTarget } from "../scheduler/job_targets.ts";
import type { RunState } from "../scheduler/run_state.ts";

/** Issues StartTimer for a duration > 0; fractions of a millisecond are rounded up. */
export function startTimer(
  run: RunState,
  durationMs: number,
  summary: string | undefined,
  target: TimerTarget,
): number {
  const text: WirePayload | undefined = summary === undefined
    ? undefined
    : wire(defaultPayloadConverter.toPayload(summary));
  const seq = run.issue(
    CommandKind.COMMAND_KIND_START_TIMER,
    encodeWith(StartTimer, { durationMs: Math.ceil(durationMs), summary: text, seq: 0 }),
  );
  run.timers.set(seq, target);
  return seq;
}

export function cancelTimer(run: RunState, seq: number): void {
  if (run.timers.delete(seq)) run.port.cancel(CommandKind.COMMAND_KIND_START_TIMER, seq);
}

export class SleepAwaiter extends Awaiter<void> implements TimerTarget {
  readonly waitsFor = "timer";
  readonly external = true;
  readonly #seq: number;
  readonly #name: string | undefined;

  /** `name`: the name of the timer, which is also its summary. */
  constructor(fiber: Fiber, durationMs: number, summary: string | undefined, name?: string) {
    super(fiber);
    this.#name = name;
    this.#seq = startTimer(fiber.run, durationMs, summary, this);
  }

  override get seq(): number {
    return this.#seq;
  }

  /** A timer that lost a race, or is kept for later, has no result to lose. */
  override get leftover(): Leftover {
    return "expected";
  }

  describe(): string {
    return this.#name === undefined ? "sleep" : `timer "${this.#name}"`;
  }

  fired(): void {
    this.fulfil();
  }

  override fulfil(): void {
    super.fulfil(undefined);
  }

  cancel(reason: unknown): void {
    cancelTimer(this.fiber.run, this.#seq);
    this.fail(reason);
  }
}

/** The owner of an InnerTimer. */
export interface InnerTimerOwner {
  readonly waitsFor: "receiveTimeout" | "selectTimer";
  describe(): string;
  fired(): void;
}

/** A timer of another wait, which it wakes: the timeout of a receive, or an arm of a select. */
export class InnerTimer extends Awaiter<void> implements TimerTarget {
  readonly external = true;
  readonly #owner: InnerTimerOwner;
  readonly #seq: number;

  constructor(
    fiber: Fiber,
    durationMs: number,
    summary: string | undefined,
    owner: InnerTimerOwner,
  ) {
    super(fiber);
    this.#owner = owner;
    this.#seq = startTimer(fiber.run, durationMs, summary, this);
  }

  get waitsFor(): InnerTimerOwner["waitsFor"] {
    return this.#owner.waitsFor;
  }

  override get seq(): number {
    return this.#seq;
  }

  override get leftover(): Leftover {
    return "expected";
  }

  describe(): string {
    return this.#owner.describe();
  }

  fired(): void {
    this.drop();
    this.#owner.fired();
  }

  cancel(): void {
    if (!this.isPending) return;
    cancelTimer(this.fiber.run, this.#seq);
    this.drop();
  }

  override abandon(): void {
    this.cancel();
  }
}
