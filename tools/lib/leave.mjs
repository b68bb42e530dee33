// npm runs a script in a shell, and ends that shell when it is told to end: what the shell has started is not told. Scripts that people start
// therefore end themselves when their parent is gone, by the signal that they would have got.
import process from "node:process";

const LOOK_MS = 250;

/** To be called once, by a program that runs in the foreground of whatever has started it. */
export function leaveWithParent() {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, "SIGTERM");
  }, LOOK_MS).unref();
}
