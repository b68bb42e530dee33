// A saga: if a step fails, the steps before it are compensated in reverse order.
import { CancellationScope, proxyActivities } from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const travel = proxyActivities<typeof activities>({ startToCloseTimeout: "10s" });

export async function bookTrip(trip: string, cents: number): Promise<string> {
  const compensations: (() => Promise<void>)[] = [];
  try {
    // Before the step: a step that timed out may have happened.
    compensations.unshift(() => travel.cancelHotel(trip));
    await travel.reserveHotel(trip);
    compensations.unshift(() => travel.cancelFlight(trip));
    await travel.reserveFlight(trip);
    return await travel.charge(trip, cents);
  } catch (error) {
    await CancellationScope.nonCancellable(async () => {
      for (const compensate of compensations) await compensate();
    });
    throw error;
  }
}
