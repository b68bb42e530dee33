// The workflows of the cluster bench as Temporal's SDK has them written; workflows.ts has the same
// ones in this package's model.
import {
  condition,
  defineSignal,
  defineUpdate,
  proxyActivities,
  setHandler,
  sleep,
} from "@temporalio/workflow";

const { echo } = proxyActivities({ startToCloseTimeout: "1 minute" });

export async function hello(name) {
  return `hello, ${await echo(name)}`;
}

export async function steps(n) {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += await echo(i);
  return sum;
}

export async function timerAndSignal() {
  let told = false;
  setHandler(defineSignal("go"), () => {
    told = true;
  });
  await sleep(10);
  await condition(() => told);
}

export async function listener() {
  let total = 0;
  let done = false;
  setHandler(defineSignal("bump"), (value) => {
    total += value;
  });
  setHandler(defineUpdate("add"), (value) => (total += value));
  setHandler(defineSignal("finish"), () => {
    done = true;
  });
  await condition(() => done);
  return total;
}

export async function nothing() {
  return 1;
}
