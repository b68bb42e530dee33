// Connects a schedule command to its store or cluster.
import { CommandError, UsageError } from "../../frame/errors.ts";
import { type Connection, type ServiceCall, withService } from "../../service/open_service.ts";
import type { ScheduleHandle } from "../../../client/schedules/handle.ts";
import { ScheduleAlreadyRunningError } from "../../../client/errors.ts";
import type { ScheduleOverlapPolicy } from "../../../client/schedules/options.ts";

type ScheduleCall = ServiceCall & { readonly options: { readonly scheduleId: string } };

/** Calls `use` with the schedule of the options. */
export async function withSchedule<T>(
  call: ScheduleCall,
  use: (handle: ScheduleHandle, connection: Connection) => Promise<T>,
): Promise<T> {
  const { scheduleId } = call.options;
  return await withService(call, async (connection) => {
    try {
      return await use(connection.client.schedule.getHandle(scheduleId), connection);
    } catch (error) {
      if (error instanceof ScheduleAlreadyRunningError) {
        throw new CommandError(
          `schedule ${scheduleId} already exists; use another --schedule-id, or temporalex schedule update`,
        );
      }
      // Values that the client rejects before a request are user errors.
      throw error instanceof TypeError || error instanceof RangeError
        ? new UsageError(error.message)
        : error;
    }
  });
}

/** Converts "BufferOne" to the client's "BUFFER_ONE". */
export function policyOf(policy: string | undefined): ScheduleOverlapPolicy | undefined {
  return policy?.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase() as
    | ScheduleOverlapPolicy
    | undefined;
}

/** Parses an ISO 8601 time with a time zone. */
export function parseMoment(option: string, text: string): Date {
  const time = new Date(text);
  const zoned = /^\d{4}-\d\d-\d\d(?:$|[Tt ].*(?:[Zz]|[+-]\d\d:?\d\d)$)/.test(text);
  if (!zoned || Number.isNaN(time.getTime())) {
    throw new UsageError(
      `${option} is a moment such as 2030-01-31T06:00:00Z or 2030-01-31T06:00:00+01:00, not "${text}"`,
    );
  }
  return time;
}
