// Named random streams: generators beside the run's own, seeded from the run's seed and a name, so that an interceptor's draws do not
// move the workflow's. A stream that is put around code answers its Math.random() and uuid4(), too.
import { currentCompatRun } from "../current.ts";
import type { CompatRun } from "../run.ts";
import { uuid4From } from "./alea.ts";

/** Deterministic random numbers of one run. */
export interface WorkflowRandomStream {
  /** The next number in [0, 1). */
  random(): number;
  /** A version 4 UUID of the next numbers. */
  uuid4(): string;
  /** Fills bytes, one number each. Returns them. */
  fill(bytes: Uint8Array): Uint8Array;
  /** Calls a function whose Math.random() and uuid4() are this stream's, in all that it calls and awaits. */
  with<T>(fn: () => T): T;
}

/** Fills bytes, one draw each. */
export function fillFrom(random: () => number, bytes: Uint8Array): Uint8Array {
  for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(random() * 0x100);
  return bytes;
}

function streamOf(run: () => CompatRun, draw: (run: CompatRun) => number): WorkflowRandomStream {
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

/** The run's own stream: that of Math.random() where no other is put around the code. */
export const workflowRandom: WorkflowRandomStream = streamOf(
  () => currentCompatRun("Workflow.workflowRandom may only be used from workflow context."),
  (run) => run.mainRandom(),
);

/** The stream of a name; the same one for the same name, over the whole run. */
export function getRandomStream(name: string): WorkflowRandomStream {
  const run = currentCompatRun("Workflow.getRandomStream(...) may only be used from workflow context.");
  return streamOf(() => run, () => run.namedRandom(name));
}
