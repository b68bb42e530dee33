// `schedule pause`, `unpause`, `trigger`, `backfill` and `delete`.
import { printableLine } from "../../frame/printable.ts";
import type { CallSettings } from "../../../client/calls.ts";
import type { ScheduleHandle } from "../../../client/schedules/handle.ts";
import { Exit } from "../../frame/exit.ts";
import type {
  BackfillScheduleCall,
  OneScheduleCall,
  PauseScheduleCall,
  TriggerScheduleCall,
} from "./options.ts";
import { parseMoment, policyOf, withSchedule } from "./service.ts";

/** Calls a function of the schedule and reports it. */
function act(
  call: OneScheduleCall,
  done: string,
  what: (handle: ScheduleHandle, settings: CallSettings) => Promise<void>,
): Promise<number> {
  return withSchedule(call, async (handle, { settings }) => {
    await what(handle, settings);
    const { scheduleId } = handle;
    call.print.result({ scheduleId, done }, () => `${done} ${printableLine(scheduleId)}\n`);
    return Exit.ok;
  });
}

export function pauseCommand(call: PauseScheduleCall): Promise<number> {
  const { notes = "paused by temporalex" } = call.options;
  return act(call, "paused", (handle, settings) => handle.pause(notes, settings));
}

export function unpauseCommand(call: PauseScheduleCall): Promise<number> {
  const { notes = "unpaused by temporalex" } = call.options;
  return act(call, "unpaused", (handle, settings) => handle.unpause(notes, settings));
}

export function triggerCommand(call: TriggerScheduleCall): Promise<number> {
  return act(
    call,
    "triggered",
    (handle, settings) => handle.trigger(policyOf(call.options.overlapPolicy), settings),
  );
}

export async function backfillCommand(call: BackfillScheduleCall): Promise<number> {
  const { startTime, endTime, overlapPolicy } = call.options;
  const overlap = policyOf(overlapPolicy);
  const times = {
    start: parseMoment("--start-time", startTime),
    end: parseMoment("--end-time", endTime),
  };
  return await act(
    call,
    "backfilled",
    (handle, settings) =>
      handle.backfill({ ...times, ...(overlap !== undefined && { overlap }) }, settings),
  );
}

export function deleteScheduleCommand(call: OneScheduleCall): Promise<number> {
  return act(call, "deleted", (handle, settings) => handle.delete(settings));
}
