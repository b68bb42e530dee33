// Options that several commands have, as the core takes them.
import { create, toBinary } from "@bufbuild/protobuf";
import { PrioritySchema } from "../../api/generated/temporal/api/common/v1/message_pb.ts";
import { VersioningIntent as IntentNumber } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { VersioningIntent } from "../common/deployments.ts";
import { compilePriority, type Priority } from "../common/priority.ts";

/** Bytes of temporal.api.common.v1.Priority; empty where none is given. */
export function priorityBytes(
  priority: Priority | null | undefined,
): Uint8Array {
  return priority
    ? toBinary(
      PrioritySchema,
      create(PrioritySchema, compilePriority(priority)),
    )
    : new Uint8Array(0);
}

/** Whether what is started stays with the build of the run's worker. Throws a TypeError for an intent that there is not. */
export function versioningIntent(
  intent: VersioningIntent | undefined,
): IntentNumber {
  switch (intent) {
    case undefined:
      return IntentNumber.VERSIONING_INTENT_UNSPECIFIED;
    case "COMPATIBLE":
      return IntentNumber.VERSIONING_INTENT_COMPATIBLE;
    case "DEFAULT":
      return IntentNumber.VERSIONING_INTENT_DEFAULT;
    default:
      throw new TypeError(`Unexpected VersioningIntent: ${String(intent)}`);
  }
}
