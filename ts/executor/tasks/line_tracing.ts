// Whether replays of this realm can record lines. Only a realm with probed modules loads the
// implementation.
import type { Followed, LineAt, LineFollower } from "./line_follower.ts";
import type { LineTracer } from "./line_trace.ts";

/** Creates the recorder or follower of one replay; undefined if no module has probes. */
export const lineTracing: {
  newTracer: ((pathOf?: number) => LineTracer) | undefined;
  newFollower: ((followed: Followed, tell: (at: LineAt) => void) => LineFollower) | undefined;
} = { newTracer: undefined, newFollower: undefined };
