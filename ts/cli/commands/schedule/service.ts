// The cluster that a command about schedules means. A store has none, so a command that names no cluster is told so at once, and no store
// is opened, or made, for the answer.
import { meansCluster } from "../../service/cluster.ts";
import { CommandError, UsageError } from "../../frame/errors.ts";
import { type Connection, type ServiceCall, withService } from "../../service/open_service.ts";
import type { ScheduleHandle } from "../../../client/schedules/handle.ts";
import { ScheduleAlreadyRunningError } from "../../../client/errors.ts";
import type { ScheduleOverlapPolicy } from "../../../client/schedules/options.ts";

export async function withClusterConnection<T>(call: ServiceCall, use: (connection: Connection) => Promise<T>): Promise<T> {
  if (!meansCluster(call.options) || call.given.has("store")) {
    throw new UsageError(
      "schedules need a Temporal cluster: name it with --address or --profile. In a store, a workflow that sleeps until the next moment and continues as new does the same",
    );
  }
  return await withService(call, use);
}

type ScheduleCall = ServiceCall & { readonly options: { readonly scheduleId: string } };

/** The schedule that the options name. */
export async function withSchedule<T>(
  call: ScheduleCall,
  use: (handle: ScheduleHandle, connection: Connection) => Promise<T>,
): Promise<T> {
  const { scheduleId } = call.options;
  return await withClusterConnection(call, async (connection) => {
    try {
      return await use(connection.client.schedule.getHandle(scheduleId), connection);
    } catch (error) {
      if (error instanceof ScheduleAlreadyRunningError) {
        throw new CommandError(`schedule ${scheduleId} already exists; use another --schedule-id, or temporalex schedule update`);
      }
      // Values that the client refuses before anything is sent are a user's mistakes here.
      throw error instanceof TypeError || error instanceof RangeError ? new UsageError(error.message) : error;
    }
  });
}

/** "BufferOne" as the client names it: "BUFFER_ONE". */
export function policyOf(policy: string | undefined): ScheduleOverlapPolicy | undefined {
  return policy?.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase() as ScheduleOverlapPolicy | undefined;
}

/** A moment as ISO 8601 writes it, with its zone. */
export function parseMoment(option: string, text: string): Date {
  const time = new Date(text);
  const zoned = /^\d{4}-\d\d-\d\d(?:$|[Tt ].*(?:[Zz]|[+-]\d\d:?\d\d)$)/.test(text);
  if (!zoned || Number.isNaN(time.getTime())) {
    throw new UsageError(`${option} is a moment such as 2030-01-31T06:00:00Z or 2030-01-31T06:00:00+01:00, not "${text}"`);
  }
  return time;
}
