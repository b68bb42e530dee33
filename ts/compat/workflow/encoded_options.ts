// Encodes options that several commands share.
import { VersioningIntent as IntentNumber } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { VersioningIntent } from "../common/deployments.ts";
import { encodePriority } from "../../executor/program/priority.ts";
import { rejectLoneSurrogates } from "../../executor/program/well_formed.ts";
import { compilePriority, type Priority } from "../common/priority.ts";

/** Returns bytes of temporal.api.common.v1.Priority; empty without one. */
export function priorityBytes(
  priority: Priority | null | undefined,
): Uint8Array {
  if (!priority) return new Uint8Array(0);
  rejectLoneSurrogates({ priority });
  return encodePriority(compilePriority(priority));
}

/**
 * Returns whether a started workflow or activity stays on the build of the run's worker. Throws a
 * TypeError for an unknown intent.
 */
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
