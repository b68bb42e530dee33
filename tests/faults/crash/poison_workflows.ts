// Workflows of the crash loop with poison: innocent ones, and the two kinds of code on which V8
// ends the whole process.
import { activities, sleep, workflow } from "../../../ts/workflow/mod.ts";

type Acts = typeof import("./poison_activities.ts");
// Each kill costs an attempt.
const acts = activities<Pick<Acts, "good">>({
  startToClose: "20s",
  retry: { initialInterval: "5ms" },
});
const bad = activities<Pick<Acts, "bad">>({
  startToClose: "20s",
  retry: { maximumAttempts: 2, initialInterval: "5ms" },
});

export const steady = workflow("Steady", async (n: number) => {
  let sum = 0;
  for (let i = 0; i < 3; i++) {
    sum += await acts.good(n);
    await sleep(2);
  }
  try {
    await bad.bad(n);
  } catch {
    sum++;
  }
  return sum;
});

/** "Fatal JavaScript invalid size error". */
export const tooLong = workflow("TooLong", async () => {
  await sleep(2);
  return "x".repeat(2 ** 28).split("").length;
});

/**
 * "JavaScript heap out of memory", though no memory is used up: an allocation that is larger than
 * V8 has.
 */
export const tooLarge = workflow("TooLarge", async () => {
  await sleep(2);
  return "x".repeat(2 ** 28).match(/x/g)!.length;
});
