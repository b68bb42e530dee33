// Where a reset goes on from and what it leaves out, as callers say it.
import type { OptionNames } from "../base/option_names.ts";
import type { ResetReapplyExcludeType } from "../api/generated/temporal/api/enums/v1/reset_pb.ts";
import { CALL_SETTINGS, type CallSettings } from "./calls.ts";

/** Kinds of events that a reset can leave out. */
export type ReapplyExclude = Exclude<keyof typeof ResetReapplyExcludeType, "UNSPECIFIED">;

/** Where a reset workflow goes on: exactly one of them. */
export type ResetPoint =
  | {
    /** Behind this event: of a workflow task's completion (or failure, or timeout), or of the event after its start. */
    eventId: number | bigint;
    type?: never;
    buildId?: never;
  }
  | {
    /**
     * Behind the first completed workflow task of the run (the workflow starts over, with its arguments), behind the last one, or behind
     * the last one of the run that continued as this one.
     */
    type: "FIRST_WORKFLOW_TASK" | "LAST_WORKFLOW_TASK" | "LAST_CONTINUED_AS_NEW";
    eventId?: never;
    buildId?: never;
  }
  | {
    /** Behind the first workflow task that workers of this build completed, perhaps in an earlier run. */
    buildId: string;
    eventId?: never;
    type?: never;
  };

/** Options of `handle.reset`. */
export type ResetOptions = ResetPoint & CallSettings & {
  /** Why; histories show it. */
  reason: string;
  /** What came in after the point and is not given to the new run again; default: nothing, everything comes again. */
  reapplyExclude?: "ALL" | readonly ReapplyExclude[];
  /** Two resets with one request id are one, as long as the run that the first one made is the current one. Default: made per call. */
  requestId?: string;
};

export const RESET_OPTIONS: OptionNames<ResetOptions> = {
  ...{ eventId: 1, type: 1, buildId: 1, reason: 1, reapplyExclude: 1, requestId: 1 },
  ...CALL_SETTINGS,
};

const TYPES = ["FIRST_WORKFLOW_TASK", "LAST_WORKFLOW_TASK", "LAST_CONTINUED_AS_NEW"];

/** Throws a TypeError for what is no point, before anything is asked. */
export function checkPoint({ eventId, type, buildId }: ResetPoint): void {
  if ([eventId, type, buildId].filter((part) => part !== undefined).length !== 1) {
    throw new TypeError("a reset needs exactly one of eventId, type and buildId");
  }
  if (eventId !== undefined && (typeof eventId === "number" ? !Number.isInteger(eventId) || eventId < 1 : eventId < 1n)) {
    throw new TypeError(`eventId of a reset must be an integer of at least 1, not ${eventId}`);
  }
  if (type !== undefined && !TYPES.includes(type)) {
    throw new TypeError(`type of a reset must be one of ${TYPES.join(", ")}, not ${String(type)}`);
  }
  if (buildId === "") throw new TypeError("a reset to a build needs its id");
}
