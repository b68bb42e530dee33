// runtime: node
// Subscriptions and broadcasts over tabs: subscriptions are in the store, so a broadcast of any tab
// reaches the workflows that any tab has started, also of a closed tab.
import assert from "node:assert/strict";
import type { Tab } from "./support/browser.ts";
import { browserSuite, opened } from "./support/suite.ts";

const { check } = await browserSuite();
const GAME = { engine: "game_engine.js", realm: "game_realm.js" };

/**
 * Starts a workflow that ends with the signal; the result is awaited in the page, so that the tab
 * may be closed meanwhile.
 */
const hunt = (tab: Tab, id: string, kind: string): Promise<unknown> =>
  tab.page.evaluate(([i, k]) => globalThis.tab.execute("Hunts", i, [k]), [id, kind] as const);
const broadcast = (tab: Tab, filter: string | undefined, by: string): Promise<unknown> =>
  tab.page.evaluate(
    ([f, b]) => globalThis.tab.broadcast("killed", f ?? undefined, b),
    [filter ?? null, by] as const,
  );
const subscribed = (tab: Tab, count: number): Promise<unknown> =>
  tab.holds(
    async (n: number) =>
      await globalThis.tab.count(
        "ExecutionStatus = 'Running' AND WorkflowSubscription IS NOT NULL",
      ) === n,
    count,
  );

check(
  "broadcasts from the leading tab and from a following tab reach the subscribers of both",
  async ({ store, newTab }) => {
    const leader = await opened(await newTab(), { store, ...GAME });
    const follower = await opened(await newTab(), { store, ...GAME });
    assert.deepEqual([await leader.role(), await follower.role()], ["leader", "follower"]);
    const orcs = [hunt(leader, "leader-orc", "orc"), hunt(follower, "follower-orc", "orc")];
    const elves = [hunt(leader, "leader-elf", "elf"), hunt(follower, "follower-elf", "elf")];
    await subscribed(follower, 4);
    assert.equal(await broadcast(follower, "orc", "follower"), 2);
    assert.deepEqual(await Promise.all(orcs), ["orc by follower", "orc by follower"]);
    assert.equal(await broadcast(leader, "elf", "leader"), 2);
    assert.deepEqual(await Promise.all(elves), ["elf by leader", "elf by leader"]);
    assert.equal(await broadcast(follower, undefined, "absent"), 0);
    const { message } = await broadcast(follower, "", "x") as { message: string };
    assert.match(message, /a filter of subscriptions is a non-empty string/);
  },
);

check(
  "subscriptions survive the leading tab; broadcasts from the next leading tab reach them",
  async ({ store, newTab }) => {
    const first = await opened(await newTab(), { store, ...GAME });
    const next = await opened(await newTab(), { store, ...GAME });
    hunt(first, "left", "orc").catch(() => {});
    const mine = hunt(next, "mine", "orc");
    await subscribed(next, 2);
    await first.close();
    await next.until("leader");
    assert.equal(await broadcast(next, undefined, "next"), 2);
    assert.equal(await mine, "orc by next");
    assert.equal(await next.page.evaluate(() => tab.result("left")), "orc by next");
  },
);
