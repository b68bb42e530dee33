// A tab of a real browser that uses `temporalex gateway` (a separate process, so that it can be
// killed), on any server that speaks Temporal's protocol.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { serveSite, type Site } from "../../../system/browser/support/site.ts";
import { startCommand, type Started } from "../../cli/support/process.ts";
import { freePort } from "../../../support/ports.ts";
import { until } from "../../../support/until.ts";

export interface Upstream {
  readonly address: string;
  stop(): Promise<void>;
}

/** Declares the tests of a tab. */
export function tabSuite(
  name: string,
  start: () => Promise<Upstream>,
  { missing = false, slow = true }: {
    /** Why the server cannot be had. */
    missing?: string | false;
    /** Those that wait for timeouts of tasks, too. */
    slow?: boolean;
  } = {},
): void {
  let upstream: Upstream, site: Site, port: number, folder: string;
  let browser: Browser | undefined;
  let reason: string | false = missing;
  const gateways: Started[] = [];

  const startGateway = async (
    ...more: string[]
  ): Promise<{ readonly process: Started; readonly url: string }> => {
    const args = [
      "--address",
      upstream.address,
      "--port",
      String(port),
      "--json",
      "--allow-origin",
      new URL(site.url).origin,
    ];
    const gateway = startCommand(["gateway", ...args, "--token-file", "token", ...more], folder);
    gateways.push(gateway);
    const { url } = await gateway.line("started", ({ event }) => event === "started");
    return { process: gateway, url: url as string };
  };

  before(async () => {
    if (reason !== false) return;
    const { launchChromium } = await import(
      pathToFileURL(join(process.cwd(), "tools/lib/chromium.mjs")).href
    ) as {
      launchChromium(): Promise<{ browser?: Browser; reason?: string }>;
    };
    const launched = await launchChromium();
    if (launched.browser === undefined) return void (reason = `no browser: ${launched.reason}`);
    browser = launched.browser;
    upstream = await start();
    port = await freePort();
    folder = mkdtempSync(join(tmpdir(), "temporalex-tab-"));
    site = await serveSite(
      { page: "tests/unit/gateway/app/page.ts", realm: "tests/unit/gateway/app/realm.ts" },
      `ws://127.0.0.1:${port} ws://127.0.0.1:1`,
    );
  });
  after(async () => {
    await browser?.close();
    await Promise.all(gateways.map((gateway) => gateway.end("SIGKILL")));
    if (upstream === undefined) return;
    await upstream.stop();
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const check = (
    what: string,
    body: (page: Page, newTab: (url?: string) => Promise<Page>) => Promise<void>,
  ) =>
    test(`${what} (${name})`, { skip: missing, timeout: 300_000 }, async (t) => {
      if (reason !== false) return t.skip(reason);
      const pages: Page[] = [];
      const newTab = async (url = site.url) => {
        const page = await browser!.newPage();
        pages.push(page);
        await page.goto(url);
        await page.waitForFunction(() => globalThis.far !== undefined);
        return page;
      };
      try {
        await body(await newTab(), newTab);
      } finally {
        await Promise.all(pages.map((page) => page.close()));
      }
    });
  const connect = async (page: Page, url: string, queue: string) => {
    assert.equal(
      await page.evaluate(([u, q]) => far.connect(u, q), [url, queue] as const),
      undefined,
    );
    await page.evaluate((q) => far.work(q), queue);
  };

  check(
    "a tab is client and worker: start, update, signal, query, activities in the page, result; then fifty runs",
    async (page) => {
      const gateway = await startGateway();
      await connect(page, gateway.url, "shop");
      const { counts, seen, bill, text } = await page.evaluate(() => far.shop("basket"));
      assert.deepEqual(counts, [1, 2]);
      assert.deepEqual(seen, { articles: ["tea", "bread"], notes: ["no bag"] });
      assert.deepEqual(bill, { articles: ["tea", "bread"], notes: ["no bag"], total: 8 });
      assert.equal(text, "tea;bread;");
      const totals = await page.evaluate(() => far.walks("fifty", 50, 2));
      assert.deepEqual(totals, totals.map((_, i) => 2 * `fifty-${i} 0`.length));
      assert.equal(totals.length, 50);
      await page.evaluate(() => far.stop());
      assert.equal(await gateway.process.end("SIGINT"), 0);
    },
  );

  check(
    "the gateway is killed during twenty runs, and restarts: the tab continues, and every run ends",
    async (page) => {
      const first = await startGateway();
      await connect(page, first.url, "killed");
      await page.evaluate(() => far.holdAfter(50));
      const totals = page.evaluate(() => far.walks("killed", 20, 8));
      totals.catch(() => {});
      await page.waitForFunction(() => far.asked() > 50);
      await first.process.end("SIGKILL");
      await page.waitForFunction(() => far.status() !== "open");
      await page.evaluate(() => far.goOn());
      const before = await page.evaluate(() => far.asked());
      await new Promise((resolve) => setTimeout(resolve, 1500));
      assert.ok(await page.evaluate(() => far.asked()) < 160, "there is something left to do");
      const second = await startGateway();
      assert.equal(second.url, first.url);
      assert.deepEqual(
        await totals,
        Array.from({ length: 20 }, (_, i) => 8 * `killed-${i} 0`.length),
      );
      assert.ok(before < 160 && await page.evaluate(() => far.asked()) >= 160);
      await page.evaluate(() => far.stop());
      assert.equal(await second.process.end("SIGINT"), 0);
    },
  );

  if (slow) {
    check(
      "a tab is reloaded in the middle of its runs: the next page continues them",
      async (page) => {
        const gateway = await startGateway();
        await connect(page, gateway.url, "reloaded");
        page.evaluate(() => far.walks("reloaded", 5, 10)).catch(() => {});
        await page.waitForFunction(() => far.asked() > 12);
        await page.reload();
        await page.waitForFunction(() => globalThis.far !== undefined);
        await connect(page, gateway.url, "reloaded");
        const totals = await page.evaluate(() => far.results("reloaded", 5));
        assert.deepEqual(totals, Array.from({ length: 5 }, () => 10 * "reloaded-0 0".length));
        assert.ok(
          await page.evaluate(() => far.asked()) < 45,
          "what was done before is not done again",
        );
        await page.evaluate(() => far.stop());
        assert.equal(await gateway.process.end("SIGINT"), 0);
      },
    );
  }

  check(
    "a rejected page gets the reason: another origin, a wrong token, a content security policy",
    async (page, newTab) => {
      const gateway = await startGateway();
      const tell = (tab_: Page, url: string) =>
        tab_.evaluate((u) => far.connect(u, "q", "2s"), url);
      const wrong = await tell(page, gateway.url.replace(/#.*/, `#${"x".repeat(43)}`));
      assert.match(wrong?.message ?? "", /rejected the token; use the URL that it prints at start/);
      const elsewhere = await newTab(site.url.replace("127.0.0.1", "localhost"));
      const foreign = await tell(elsewhere, gateway.url);
      assert.match(
        foreign?.message ?? "",
        /cannot be reached, or does not allow the origin http:\/\/localhost:\d+ \(--allow-origin http/,
      );
      const refusal =
        /a caller was rejected: the origin \\"http:\/\/localhost:\d+\\" is not allowed.*--allow-origin/;
      // Its log is read as it comes.
      await until("the refusal is logged", () => refusal.test(gateway.process.err()), {
        about: gateway.process.err,
      });
      const forbidden = await tell(page, gateway.url.replace(/:\d+\//, ":9/"));
      assert.match(forbidden?.message ?? "", /content security policy allows it \(connect-src\)/);
      assert.equal(
        await page.evaluate((u) => far.connect(u, "q"), gateway.url),
        undefined,
        "and the right one is let in",
      );
      await gateway.process.end("SIGINT");
    },
  );
}
