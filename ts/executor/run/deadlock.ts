// Detects a run that is unfinished while it awaits no primitive: it awaits a host promise (fetch, a
// host timer, a promise that never settles). It fails with the last call of each fiber instead of
// hanging.
import { DeadlockError } from "../program/errors.ts";
import type { RunState } from "../scheduler/run_state.ts";

export function checkDeadlock(run: RunState): void {
  for (const awaiter of run.pending) if (awaiter.external) return;
  if (run.receive?.canBeWoken === true) return;
  const fibers = [...run.fibers].map((fiber) => {
    if (fiber.lastCall === "") return `${fiber.label} (it has called no primitive yet)`;
    return `${fiber.label} (its last call: ${fiber.lastCall}${
      fiber.lastSite === "" ? "" : ` at ${fiber.lastSite}`
    })`;
  });
  throw new DeadlockError(
    `DEADLOCK: the workflow waits for something that can never wake it: a promise that is not a workflow primitive (fetch, a host ` +
      `timer, a promise that is never resolved). Use activities for I/O and sleep for timers. Waiting: ${
        fibers.join("; ")
      }`,
  );
}
