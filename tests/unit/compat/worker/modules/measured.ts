import { metricMeter, proxyActivities } from "@temporalio/workflow";

const { weigh } = proxyActivities<{ weigh(kilos: number): Promise<number> }>({
  startToCloseTimeout: "1 minute",
});

export async function measured(kilos: number): Promise<number> {
  metricMeter.createCounter("parcels").add(1, { size: "small" });
  return await weigh(kilos);
}
