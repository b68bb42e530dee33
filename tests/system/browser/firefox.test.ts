// runtime: node
// The browser's store and two tabs on it in Firefox, where there is one: another engine's files,
// locks and channels.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { serveSite, SITE } from "./support/site.ts";

interface Page {
  goto(url: string): Promise<void>;
  evaluate<T, A>(fn: (argument: A) => T, argument?: A): Promise<Awaited<T>>;
  close(): Promise<void>;
}
interface Launcher {
  launchFirefox(): Promise<
    { browser?: { newPage(): Promise<Page>; close(): Promise<void> }; reason?: string }
  >;
}

const { launchFirefox } = await import(
  pathToFileURL(join(process.cwd(), "tools/lib/firefox.mjs")).href
) as Launcher;
const { browser, reason } = await launchFirefox();
const site = await serveSite(SITE);
after(async () => {
  await browser?.close();
  await site.close();
});
const check = (name: string, body: () => Promise<void>) =>
  test(name, { skip: browser === undefined && `no Firefox: ${reason}`, timeout: 300_000 }, body);

async function newTab(): Promise<Page> {
  const page = await browser!.newPage();
  await page.goto(site.url);
  await page.evaluate(() =>
    new Promise<void>((resolve) => {
      globalThis.say = () => Promise.resolve();
      const loaded = setInterval(() => {
        if (globalThis.tab === undefined) return;
        clearInterval(loaded);
        resolve();
      }, 20);
    })
  );
  return page;
}

check("Firefox: SQLite on the browser's files passes the store contract", async () => {
  const page = await newTab();
  const { failures } = await page.evaluate(() => tab.askWorker("contract.js", "go")) as {
    failures: string[];
  };
  await page.close();
  assert.deepEqual(failures, []);
});

check("Firefox: runs continue when the leading tab is closed and another one leads", async () => {
  const leader = await newTab();
  assert.equal(await leader.evaluate(() => tab.open()), undefined);
  const next = await newTab();
  assert.equal(await next.evaluate(() => tab.open()), undefined);
  const roles = [
    await leader.evaluate(() => tab.status().role),
    await next.evaluate(() => tab.status().role),
  ];
  assert.deepEqual(roles, ["leader", "follower"]);
  await next.evaluate(() => tab.start("w", { steps: 1, signals: 2, updates: 1 }));
  await next.evaluate(() => tab.update("w", "u"));
  await next.evaluate(() => tab.signal("w", "a"));
  await leader.close();
  await next.evaluate(() => tab.signal("w", "b"));
  const { steps, signals } = await next.evaluate(() => tab.result("w"));
  assert.deepEqual([steps, signals], [[1, 2], ["a", "b"]]);
  assert.equal(await next.evaluate(() => tab.status().role), "leader");
  await next.close();
});
