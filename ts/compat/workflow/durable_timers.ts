// Timers as commands. They are counted here, not in the core: a timer in a canceled scope is never
// sent, but uses a number, and history identifies timers by number.
import {
  CommandKind,
  StartTimer,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { PayloadConverter } from "../../converter/payload.ts";
import { ValueError } from "../common/errors.ts";
import { callThrough, type InterceptedRun } from "../interception.ts";
import { encodeGroups } from "./event_groups.ts";
import type { TimerInput } from "./interceptors.ts";
import type { TimerOptions } from "./options.ts";
import { join, type Scope } from "./join.ts";
import { encodeWith } from "../../executor/program/encode.ts";

/** The part of a run that timers need. */
interface TimerRun extends InterceptedRun {
  readonly rootScope: Scope;
  nextTimerSeq: number;
  readonly timers: Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>;
  readonly converter: PayloadConverter;
  command(kind: CommandKind, attributes: Uint8Array, groups?: Uint8Array): void;
  cancelCommand(kind: CommandKind, seq: number, groups?: Uint8Array): void;
  waitsAt<W extends object>(label: string, wait: W): W;
}

/** Starts a timer that is canceled with the current scope. Uses a number for any duration. */
export function startSleep(
  run: TimerRun,
  duration: () => number,
  options?: TimerOptions,
): { seq: number; done: Promise<void> } {
  const seq = run.nextTimerSeq++;
  const durationMs = duration();
  const start = callThrough(
    run,
    "outbound",
    "startTimer",
    (input: TimerInput) => sleepIn(run, input),
  );
  return { seq, done: start({ durationMs, seq, options }) };
}

function sleepIn(run: TimerRun, { seq, durationMs, options }: TimerInput): Promise<void> {
  const scope = run.context.current()?.scope ?? run.rootScope;
  return new Promise<void>((resolve, reject) => {
    const alive = join(scope, reject, (error) => {
      if (!run.timers.delete(seq)) return;
      run.cancelCommand(CommandKind.COMMAND_KIND_START_TIMER, seq, groups);
      reject(error);
    });
    if (!alive) return;
    const groups = startDurableTimer(
      run,
      seq,
      durationMs,
      options,
      () => encodeGroups(run, options?.eventGroups),
    );
    run.timers.set(
      seq,
      run.waitsAt("sleep", { resolve: resolve as (value: unknown) => void, reject }),
    );
  });
}

/**
 * Starts a timer in whole milliseconds, rounded up, so that it is never early. Returns its event
 * groups.
 */
export function startDurableTimer(
  run: TimerRun,
  seq: number,
  durationMs: number,
  options?: TimerOptions,
  groupsOf?: () => Uint8Array | undefined,
): Uint8Array | undefined {
  if (!Number.isFinite(durationMs)) throw new ValueError(`Invalid millis ${durationMs}`);
  const summary = options?.summary;
  const command = StartTimer.fromPartial({
    seq,
    durationMs: Math.ceil(durationMs),
    ...(summary === undefined ? {} : { summary: run.converter.toPayload(summary) }),
  });
  const groups = groupsOf?.();
  run.command(CommandKind.COMMAND_KIND_START_TIMER, encodeWith(StartTimer, command), groups);
  return groups;
}
