// A service that does not respond for some calls, and then works.
import { ApplicationFailure } from "temporalex/activity";

const failures = new Map<string, number>();

export function deliverParcel(parcel: string, failing: number): Promise<string> {
  const failed = failures.get(parcel) ?? 0;
  if (failed >= failing) return Promise.resolve(parcel);
  failures.set(parcel, failed + 1);
  throw new ApplicationFailure("the service does not respond", { type: "Away" });
}
