// Reducers, as the tiny server has them: each returns its arguments or throws, by its first
// argument alone, and the marker says so.
import { toFailure } from "../../ts/converter/mod.ts";
import type { Payloads } from "../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";
import type { Failure } from "../../ts/messages/generated/temporal/api/failure/v1/message_pb.ts";
import { payloads, values } from "./mini_server.ts";

export interface Marker {
  readonly markerName: string;
  details: { [key: string]: Payloads };
  failure?: Failure | undefined;
}

/**
 * Whether code waits for the reducer of this marker; its result or failure is put into it. Other
 * markers stay as they are.
 */
export function reduced(marker: Marker): boolean {
  if (marker.markerName !== "Transact") return false;
  const said = (key: string): unknown => values(marker.details[key])[0];
  const isAwaited = said("awaited") === true;
  const [label] = values(marker.details["arguments"]);
  // What nothing waits for would fail the task.
  const throws = isAwaited && said("required") !== true && String(label).length % 3 === 0;
  if (throws) marker.failure = toFailure(new RangeError(`not ${label}`));
  else marker.details = { ...marker.details, result: payloads([`kept ${label}`]) };
  return isAwaited;
}
