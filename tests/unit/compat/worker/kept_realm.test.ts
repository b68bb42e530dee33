// runtime: node
// Realms of replays are kept between calls, and used again only for the same program and options.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { test, type TestContext } from "node:test";
import { KeptRealm } from "../../../../ts/compat/worker/kept_realm.ts";
import { fileSources, type SourceHost } from "../../../../ts/platform/source_files.ts";

/** A folder with one file, and realms that read it, numbered in the order of their starts. */
function setUp(t: TestContext, { keptMs = 60_000, load = "main.ts" } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-kept-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write("main.ts", "1");
  const urlOf = (name: string) => pathToFileURL(join(folder, name)).href;
  const disposed: number[] = [];
  let starts = 0;
  const kept = new KeptRealm<{ id: number; dispose(): Promise<void> }, string>(keptMs);
  t.after(() => kept.end());
  const take = (key = "a", current = "") =>
    kept.take(key, fileSources(), current, (sources: SourceHost) => {
      const id = ++starts;
      // Like a loader: looks for a file, then reads what it has found.
      sources.isFile(urlOf("other.ts"));
      sources.read(urlOf(load));
      return Promise.resolve({ id, dispose: () => Promise.resolve(void disposed.push(id)) });
    });
  return { kept, take, write, disposed };
}

test("a realm is used again by the next call", async (t) => {
  const { kept, take, disposed } = setUp(t);
  const first = await take("a", "one");
  await kept.release(first);
  const second = await take("a", "two");
  assert.equal(second.realm.id, 1);
  assert.equal(second.bound.current, "two");
  assert.deepEqual(disposed, []);
});

test("calls at the same time have a realm each, and one is kept", async (t) => {
  const { kept, take, disposed } = setUp(t);
  const [first, second] = [await take(), await take()];
  assert.deepEqual([first.realm.id, second.realm.id], [1, 2]);
  await kept.release(first);
  await kept.release(second);
  assert.deepEqual(disposed, [1]);
  assert.equal((await take()).realm.id, 2);
});

test("other options need another realm", async (t) => {
  const { kept, take } = setUp(t);
  await kept.release(await take("a"));
  assert.equal((await take("b")).realm.id, 2);
});

for (
  const [what, change] of Object.entries({
    "a changed file": (write: (name: string, text: string) => void) => write("main.ts", "2"),
    "a new file that the loader has looked for": (write: (name: string, text: string) => void) =>
      write("other.ts", ""),
  })
) {
  test(`${what} needs another realm`, async (t) => {
    const { kept, take, write, disposed } = setUp(t);
    await kept.release(await take());
    change(write);
    const next = await take();
    assert.equal(next.realm.id, 2);
    await kept.release(next);
    assert.deepEqual(disposed, [1]);
  });
}

test("a file that changes while a realm is in use needs another one", async (t) => {
  const { kept, take, write } = setUp(t);
  const first = await take();
  write("main.ts", "2");
  first.sources.host.read(pathToFileURL("/").href);
  await kept.release(first);
  assert.equal((await take()).realm.id, 2);
});

test("an unused realm is disposed", async (t) => {
  const { kept, take, disposed } = setUp(t, { keptMs: 1 });
  await kept.release(await take());
  while (disposed.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(disposed, [1]);
  assert.equal((await take()).realm.id, 2);
});
