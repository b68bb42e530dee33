// Whether replays of this realm can write down lines. What does it is loaded by a realm whose modules have probes, and by no other.
import type { Followed, LineAt, LineFollower } from "./line_follower.ts";
import type { LineTracer } from "./line_trace.ts";

/** The realm's: makes what writes down, or follows, one replay; undefined where no module has probes. */
export const lineTracing: {
  newTracer: ((pathOf?: number) => LineTracer) | undefined;
  newFollower: ((followed: Followed, tell: (at: LineAt) => void) => LineFollower) | undefined;
} = { newTracer: undefined, newFollower: undefined };
