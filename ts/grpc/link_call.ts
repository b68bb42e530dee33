// A call as seen by its link.
import { WireStream } from "./http2/wire.ts";
import type { LinkError } from "./link_target.ts";

/** A call on a link, with the callbacks of the link. */
export abstract class LinkCall extends WireStream {
  /** Deadline, in `performance.now()` ms. */
  abstract readonly dueMs: number;
  /** The deadline passed while the process could not read; checked again after a read. */
  overdue = false;
  /** The link has ended, or (`untouched`) the server will not process this call. */
  abstract onLost(reason: LinkError, untouched: boolean): void;
  /** The deadline has passed. */
  abstract onDeadline(): void;
}
