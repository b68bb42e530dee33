// Options of a reset: its point, and events that are not applied again.
import type { OptionNames } from "../base/option_names.ts";
import type { ResetReapplyExcludeType } from "../messages/generated/temporal/api/enums/v1/reset_pb.ts";
import { CALL_SETTINGS, type CallSettings } from "./calls.ts";

/** Kinds of events that a reset can exclude. */
export type ReapplyExclude = Exclude<keyof typeof ResetReapplyExcludeType, "UNSPECIFIED">;

/** Point of a reset: exactly one of them. */
export type ResetPoint =
  | {
    /**
     * After this event: the completion (or failure, or timeout) of a workflow task, or the event
     * after its start.
     */
    eventId: number | bigint;
    type?: never;
    buildId?: never;
  }
  | {
    /**
     * After the first completed workflow task of the run (the workflow starts over with its
     * arguments), after the last one, or after the last one of the previous run (before
     * continue-as-new).
     */
    type: "FIRST_WORKFLOW_TASK" | "LAST_WORKFLOW_TASK" | "LAST_CONTINUED_AS_NEW";
    eventId?: never;
    buildId?: never;
  }
  | {
    /**
     * After the first workflow task completed by workers of this build, possibly in an earlier run.
     */
    buildId: string;
    eventId?: never;
    type?: never;
  };

/** Options of `handle.reset`. */
export type ResetOptions = ResetPoint & CallSettings & {
  /** Reason, recorded in history. */
  reason: string;
  /** Events after the point that are not applied to the new run. Default: all are applied. */
  reapplyExclude?: "ALL" | readonly ReapplyExclude[];
  /**
   * Deduplicates resets while the run of the first one is current. Default: a new id for each call.
   */
  requestId?: string;
};

export const RESET_OPTIONS: OptionNames<ResetOptions> = {
  ...{ eventId: 1, type: 1, buildId: 1, reason: 1, reapplyExclude: 1, requestId: 1 },
  ...CALL_SETTINGS,
};

const TYPES = ["FIRST_WORKFLOW_TASK", "LAST_WORKFLOW_TASK", "LAST_CONTINUED_AS_NEW"];

/** Throws a TypeError for an invalid point, before any request. */
export function checkPoint({ eventId, type, buildId }: ResetPoint): void {
  if ([eventId, type, buildId].filter((part) => part !== undefined).length !== 1) {
    throw new TypeError("a reset needs exactly one of eventId, type and buildId");
  }
  if (
    eventId !== undefined &&
    (typeof eventId === "number" ? !Number.isInteger(eventId) || eventId < 1 : eventId < 1n)
  ) {
    throw new TypeError(`eventId of a reset must be an integer of at least 1, not ${eventId}`);
  }
  if (type !== undefined && !TYPES.includes(type)) {
    throw new TypeError(`type of a reset must be one of ${TYPES.join(", ")}, not ${String(type)}`);
  }
  if (buildId === "") throw new TypeError("a reset to a build needs its id");
}
