// How procedures end on the tiny server, other than activities do.
import { create } from "@bufbuild/protobuf";
import { PayloadsSchema } from "../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";
import { EventType } from "../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import { defaultPayloadConverter, TimeoutFailure, toFailure } from "../../ts/converter/mod.ts";
import { failedResult } from "../../ts/converter/procedure_failures.ts";
import type { MiniServer } from "./mini_server.ts";

/** The procedure's time is over. It was not started by an activity. */
export function timeOutProcedure(server: MiniServer, id: string): void {
  const { scheduledEventId } = server.activities.get(id)!;
  server.activities.delete(id);
  server.append(EventType.ACTIVITY_TASK_TIMED_OUT, {
    case: "activityTaskTimedOutEventAttributes",
    value: {
      scheduledEventId,
      failure: toFailure(new TimeoutFailure("its time is over", "SCHEDULE_TO_CLOSE")),
      retryState: 3,
    },
  });
}

/** As a client fails a procedure on a cluster. */
export function failByResult(server: MiniServer, id: string, error: Error): void {
  server.completeActivity(id);
  const { attributes } = server.events.at(-1)!;
  if (attributes.case !== "activityTaskCompletedEventAttributes") {
    throw new Error(`it ended by ${attributes.case}`);
  }
  attributes.value.result = create(PayloadsSchema, {
    payloads: [failedResult(error, defaultPayloadConverter)],
  });
}
