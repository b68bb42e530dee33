// The failure of a local activity that is not registered, for programs that handle it. A marker
// records it like other failures, so that replay is equal, also on a worker that has the activity.
import { create, fromBinary } from "@bufbuild/protobuf";
import {
  type Failure,
  FailureSchema,
} from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";

/** `source` of the failure. An activity cannot set it. */
const SOURCE = "temporalex/unregistered-local-activity";

/** The official SDK's message. */
export function unregisteredLocalMessage(activityType: string): string {
  return `Local activity of type '${activityType}' not registered on worker`;
}

export function unregisteredLocalFailure(activityType: string): Failure {
  return create(FailureSchema, {
    message: unregisteredLocalMessage(activityType),
    source: SOURCE,
    failureInfo: {
      case: "applicationFailureInfo",
      value: { type: "ReferenceError", nonRetryable: true },
    },
  });
}

/** `failure`: an encoded Failure. */
export function isUnregisteredLocal(failure: Uint8Array): boolean {
  return fromBinary(FailureSchema, failure).source === SOURCE;
}
