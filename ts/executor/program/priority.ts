// Encodes priorities for commands, by fields: the message's descriptor would be built in each realm.
import { Priority as PriorityFields } from "../../messages/generated/fields.ts";
import { encodeParts } from "./encode.ts";

/** Order among the tasks of a queue; values of 0 and "" are unset. */
export interface PriorityFieldValues {
  readonly priorityKey?: number;
  readonly fairnessKey?: string;
  readonly fairnessWeight?: number;
}

/** Returns bytes of temporal.api.common.v1.Priority. They are empty without a value. */
export function encodePriority(
  { priorityKey = 0, fairnessKey = "", fairnessWeight = 0 }: PriorityFieldValues,
): Uint8Array {
  return encodeParts((writer) => {
    if (priorityKey !== 0) writer.uint32(PriorityFields.priorityKey).int32(priorityKey);
    if (fairnessKey !== "") writer.uint32(PriorityFields.fairnessKey).string(fairnessKey);
    if (fairnessWeight !== 0) writer.uint32(PriorityFields.fairnessWeight).float(fairnessWeight);
  });
}
