// A program for `@temporalio/workflow` that waits in several places.
import {
  condition,
  defineSignal,
  defineUpdate,
  executeChild,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
} from "@temporalio/workflow";

const { work } = proxyActivities<{ work(): Promise<void> }>({ startToCloseTimeout: "1 hour" });

async function deeper(): Promise<void> {
  await sleep("1 hour");
}

export async function officialWaiting(): Promise<void> {
  let done = false;
  setCurrentDetails("three at once");
  setHandler(defineSignal<[]>("done"), () => void (done = true), { description: "Ends it" });
  setHandler(defineUpdate("work"), async () => await work());
  await Promise.all([
    deeper(),
    condition(() => done),
    executeChild("absent", { taskQueue: "unpolled", parentClosePolicy: "TERMINATE" }),
  ]);
}
