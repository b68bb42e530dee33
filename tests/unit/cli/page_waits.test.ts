// The command's own replay waits until the page that listens has its verdict, and never long.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DebugRoutes } from "../../../ts/cli/commands/debug/routes.ts";
import { PageWaits } from "../../../ts/cli/page/page_waits.ts";
import { startPageServer } from "../../../ts/cli/page/page_server.ts";

/** A long patience: what ends within the test's time was not ended by it. */
const LONG_MS = 60_000;

async function isOpen(wait: Promise<void>): Promise<boolean> {
  return await Promise.race([
    wait.then(() => false),
    new Promise<boolean>((resolve) => setTimeout(resolve, 20, true)),
  ]);
}

test("the command waits for a version until the page shows it, a later one arrives, or the timeout ends", async () => {
  const waits = new PageWaits(LONG_MS);
  const first = waits.wait(1);
  assert.ok(await isOpen(first));
  waits.shown(2);
  assert.ok(await isOpen(first), "another version is shown");
  waits.shown(1);
  await first;
  await waits.wait(2);
  const third = waits.wait(3);
  const fourth = waits.wait(4);
  await third;
  assert.ok(await isOpen(fourth));
  waits.close();
  await fourth;
  await new PageWaits(10).wait(1);
});

test("a connected page reports the version that it shows; without a page the command does not wait", async () => {
  const routes = new DebugRoutes([], {});
  const server = await startPageServer({
    port: 0,
    page: new Map([["index.html", {
      type: "text/html",
      read: () =>
        new TextEncoder().encode(
          '<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src \'none\'">',
        ),
    }]]),
    about: {},
    route: (path) => routes.route(path),
    onError: (error) => assert.fail(error),
  });
  const post = async (body: string, type = "application/json") =>
    (await fetch(`${server.url}data/shown`, {
      method: "POST",
      headers: { "content-type": type },
      body,
    })).status;
  const page = new AbortController();
  try {
    await routes.shown(1);
    const feed = await fetch(`${server.url}data/feed`, { signal: page.signal });
    await feed.body!.getReader().read();
    const wait = routes.shown(2);
    assert.equal(await post("{"), 400);
    assert.equal(await post('{"version":"2"}'), 400);
    assert.equal(await post('{"version":2}', "text/plain"), 400);
    assert.ok(await isOpen(wait));
    assert.equal(await post('{"version":2}'), 204);
    await wait;
  } finally {
    page.abort();
    routes.close();
    await server.close();
  }
});
