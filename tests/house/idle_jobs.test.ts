// runtime: node
// Suites start more test files than usual while processors are idle, in the given order.
import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const { idleProcessors, runJobs } = await import(
  pathToFileURL(join(process.cwd(), "tools/lib/idle_jobs.mjs")).href
);

/** Jobs that end on demand, and readings of the processors that happen on demand. */
function makeJobs(names: string) {
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  let idle = 0;
  let read = () => {};
  let isStopped = false;
  const job = (name: string) =>
    new Promise<void>((resolve, reject) => {
      begun.push(name);
      ends.set(name, (error) => error === undefined ? resolve() : reject(error));
    });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const done: Promise<void> = runJobs([...names], job, {
    least: 2,
    most: 4,
    idle: () => idle,
    repeat: (take: () => void) => {
      read = take;
      return () => isStopped = true;
    },
  });
  done.catch(() => {});
  return {
    done,
    begun: () => begun.join(""),
    isStopped: () => isStopped,
    async end(name: string, error?: Error) {
      ends.get(name)!(error);
      await settled();
    },
    async readingOf(processors: number) {
      idle = processors;
      read();
      await settled();
    },
    settled,
  };
}

test("more jobs start while processors are idle, one for each reading, up to the limit", async () => {
  const jobs = makeJobs("abcdef");
  await jobs.settled();
  assert.equal(jobs.begun(), "ab");
  await jobs.readingOf(0.1);
  assert.equal(jobs.begun(), "ab", "the processors are busy");
  await jobs.readingOf(0.9);
  assert.equal(jobs.begun(), "abc");
  await jobs.readingOf(0.9);
  await jobs.readingOf(0.9);
  assert.equal(jobs.begun(), "abcd", "at most four");
  await jobs.end("a");
  await jobs.end("c");
  assert.equal(jobs.begun(), "abcd", "two still run, and the processors were not idle since");
  await jobs.end("b");
  assert.equal(jobs.begun(), "abcde", "two at least");
  await jobs.end("d");
  await jobs.end("f");
  assert.equal(jobs.isStopped(), false);
  await jobs.end("e");
  await jobs.done;
  assert.equal(jobs.isStopped(), true);
});

test("after an error no job starts; the error is reported when the others have ended", async () => {
  const jobs = makeJobs("abcd");
  await jobs.settled();
  await jobs.end("a", new Error("it broke"));
  await jobs.readingOf(0.9);
  assert.equal(jobs.begun(), "ab");
  assert.equal(jobs.isStopped(), false);
  await jobs.end("b");
  await assert.rejects(jobs.done, /it broke/);
  assert.equal(jobs.isStopped(), true);
});

test("idle processors are averaged since the last reading", () => {
  let at = 0;
  let idleMs = 5000;
  const idle = idleProcessors(() => idleMs, () => at);
  [at, idleMs] = [1000, 6500];
  assert.equal(idle(), 1.5);
  [at, idleMs] = [1500, 6500];
  assert.equal(idle(), 0);
  assert.equal(idle(), 0, "no time has passed");
});
