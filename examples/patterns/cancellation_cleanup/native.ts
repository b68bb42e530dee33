// Cancellation with compensation: a canceled rental fetches the car back; every rental is invoiced.
import { activities, isCancellation, shield, sleep, workflow } from "temporalex/workflow";

const garage = activities<typeof import("./activities.ts")>({ startToClose: "10s" });

export const rental = workflow("rental", async (car: string, ms: number) => {
  await garage.handOver(car);
  try {
    await sleep(ms);
    return "returned";
  } catch (error) {
    if (isCancellation(error)) await shield(() => garage.fetchBack(car));
    throw error;
  } finally {
    await shield(() => garage.sendInvoice(car));
  }
});
