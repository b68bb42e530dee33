// Named random streams, separate from the run's generator and seeded from the run's seed and a
// name, so that an interceptor's draws do not change the workflow's. In `with`, they replace
// Math.random() and uuid4().
import { currentCompatRun } from "../current.ts";
import type { CompatRun } from "../run.ts";
import { uuid4From } from "./alea.ts";

/** Deterministic random numbers of a run. */
export interface WorkflowRandomStream {
  /** Returns the next number in [0, 1). */
  random(): number;
  /** Returns a version 4 UUID of the next numbers. */
  uuid4(): string;
  /** Fills bytes, with one number for each, and returns them. */
  fill(bytes: Uint8Array): Uint8Array;
  /**
   * Calls a function whose Math.random() and uuid4() use this stream, including everything that it
   * calls and awaits.
   */
  with<T>(fn: () => T): T;
}

/** Fills bytes, with one draw for each. */
export function fillFrom(random: () => number, bytes: Uint8Array): Uint8Array {
  for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(random() * 0x100);
  return bytes;
}

function makeStream(run: () => CompatRun, draw: (run: CompatRun) => number): WorkflowRandomStream {
  const stream: WorkflowRandomStream = {
    random: () => draw(run()),
    uuid4: () => uuid4From(() => stream.random()),
    fill: (bytes) => fillFrom(() => stream.random(), bytes),
    with: (fn) => {
      const { context } = run();
      return context.run(run().frame({ random: stream }), fn);
    },
  };
  return stream;
}

/** The run's own stream: that of Math.random() by default. */
export const workflowRandom: WorkflowRandomStream = makeStream(
  () => currentCompatRun("Workflow.workflowRandom may only be used from workflow context."),
  (run) => run.mainRandom(),
);

/** Returns the stream of a name, one for the whole run. */
export function getRandomStream(name: string): WorkflowRandomStream {
  const run = currentCompatRun(
    "Workflow.getRandomStream(...) may only be used from workflow context.",
  );
  return makeStream(() => run, () => run.namedRandom(name));
}
