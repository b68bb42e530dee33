// Names of local activity calls (docs/dev/semantics/activities.md#the-idempotency-key). A lost
// workflow task runs again, perhaps with other messages, so a counter over the run would reuse
// names.
import { encodeWith, type WirePayload } from "./encode.ts";
import { ScheduleLocalActivity } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";

/** The code that makes calls: the run itself, or the handler of one message. */
export class Caller {
  /** "" for the run itself. Unique within the run, and the same when a task runs again. */
  readonly id: string;
  #counts: Map<string, number> | undefined;

  constructor(id: string) {
    this.id = id;
  }

  static ofUpdate(updateId: string): Caller {
    return new Caller(`update ${updateId}`);
  }

  /**
   * `eventId`: of the signal's event, which is stable when a task runs again. 0 or 1 (the start's):
   * carried from the previous run. `order`: its place in the inbox.
   */
  static ofSignal(
    { eventId, order }: { readonly eventId: number; readonly order: number },
  ): Caller {
    return new Caller(eventId > 1 ? `signal ${eventId}` : `carried signal ${order}`);
  }

  /** Counts a call. Returns the number of earlier calls with this fingerprint. */
  count(fingerprint: string): number {
    const counts = this.#counts ??= new Map();
    const before = counts.get(fingerprint) ?? 0;
    counts.set(fingerprint, before + 1);
    return before;
  }
}

/** Encoded ScheduleLocalActivity with only the type. */
export function encodeActivityType(activityType: string): Uint8Array {
  return encodeWith(ScheduleLocalActivity, ScheduleLocalActivity.fromPartial({ activityType }));
}

/** The same with arguments. */
export function encodeCall(activityType: string, args: WirePayload[]): Uint8Array {
  return encodeWith(
    ScheduleLocalActivity,
    ScheduleLocalActivity.fromPartial({ activityType, arguments: args }),
  );
}

const FNV_PRIME = 0x01000193;
const FNV_OFFSET = 0x811c9dc5;

/**
 * Two FNV-1a hashes of a call's bytes, the second over their complement. Equal calls have equal
 * fingerprints. After a collision the second call has a higher count; keys still differ, because a
 * key includes the arguments.
 */
export function fingerprintCall(call: Uint8Array): string {
  let a = FNV_OFFSET, b = FNV_OFFSET ^ call.length;
  for (const byte of call) {
    a = Math.imul(a ^ byte, FNV_PRIME);
    b = Math.imul(b ^ (byte ^ 0xff), FNV_PRIME);
  }
  return `${a >>> 0} ${b >>> 0}`;
}
