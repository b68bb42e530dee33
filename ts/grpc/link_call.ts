// A call as its link sees it.
import { WireStream } from "./http2/wire.ts";
import type { LinkError } from "./link_target.ts";

/** A call on a link: what the link does to it. */
export abstract class LinkCall extends WireStream {
  /** When its time is over, by `performance.now()`. */
  abstract readonly dueMs: number;
  /** Its time was over when the process had no time to read; it is looked at once more. */
  overdue = false;
  /** The link has ended, or (`untouched`) the server will not look at this call. */
  abstract onLost(reason: LinkError, untouched: boolean): void;
  /** Its time is over. */
  abstract onDeadline(): void;
}
