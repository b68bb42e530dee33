// npm runs a script in a shell, and on a signal ends that shell but not its children. Scripts that
// users start therefore end themselves when their parent is gone, by the signal that they would
// have got.
import process from "node:process";

const LOOK_MS = 250;

/** To be called once, by a program that runs in the foreground of whatever has started it. */
export function leaveWithParent() {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, "SIGTERM");
  }, LOOK_MS).unref();
}
