// A saga: if a step fails, the steps before it are compensated in reverse order.
import { activities, shield, workflow } from "temporalex/workflow";

const travel = activities<typeof import("./activities.ts")>({ startToClose: "10s" });

export const bookTrip = workflow("bookTrip", async (trip: string, cents: number) => {
  const compensations: (() => Promise<void>)[] = [];
  try {
    // Before the step: a step that timed out may have happened.
    compensations.unshift(() => travel.cancelHotel(trip));
    await travel.reserveHotel(trip);
    compensations.unshift(() => travel.cancelFlight(trip));
    await travel.reserveFlight(trip);
    return await travel.charge(trip, cents);
  } catch (error) {
    await shield(async () => {
      for (const compensate of compensations) await compensate();
    });
    throw error;
  }
});
