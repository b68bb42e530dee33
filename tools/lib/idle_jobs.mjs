// Runs jobs at the same time: a few always, and more while processors are idle. Test files wait for
// timers and child processes; a fixed number of them leaves a third of two processors idle.
import { cpus, getPriority } from "node:os";
import { performance } from "node:perf_hooks";

/** Time between two readings. A job that has started has an effect on the next one. */
const READING_MS = 500;
/** Idle processors from which one more job starts. */
const ENOUGH_IDLE = 0.4;

/**
 * Suites in the background have a low priority and give way, so their time counts as idle; unless
 * this process has a low priority, too.
 */
const idleMs = () =>
  cpus().reduce((sum, { times }) => sum + times.idle + (getPriority() > 0 ? 0 : times.nice), 0);

/** Returns a function that returns the number of idle processors, averaged since its last call. */
export function idleProcessors(read = idleMs, now = () => performance.now()) {
  let at = now();
  let idle = read();
  return () => {
    const [from, before] = [at, idle];
    at = now();
    idle = read();
    return at > from ? (idle - before) / (at - from) : 0;
  };
}

const everyReading = (take) => {
  const timer = setInterval(take, READING_MS);
  return () => clearInterval(timer);
};

/**
 * Calls `job` for each item in the given order, for `least` items at a time, and for up to `most`
 * while processors are idle. Rejects with the first error after the jobs in progress have ended.
 */
export async function runJobs(
  items,
  job,
  { least, most = 2 * least, idle = idleProcessors(), repeat = everyReading },
) {
  const queue = [...items];
  const running = new Set();
  const errors = [];
  const start = () => {
    const [item] = queue.splice(0, 1);
    const work = Promise.resolve(item).then(job).catch((error) => {
      errors.push(error);
      queue.length = 0;
    }).finally(() => running.delete(work));
    running.add(work);
  };
  const stop = repeat(() => {
    if (idle() >= ENOUGH_IDLE && running.size < most && queue.length > 0) start();
  });
  try {
    while (queue.length > 0 || running.size > 0) {
      while (queue.length > 0 && running.size < least) start();
      await Promise.race(running);
    }
  } finally {
    stop();
  }
  if (errors.length > 0) throw errors[0];
}
