// runtime: node
// A tab of Firefox behind a gateway, on the embedded engine served by `temporalex dev`, where there
// is a Firefox.
import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { startGateway } from "../../../ts/gateway/server.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { startCommand } from "../../unit/cli/support/process.ts";
import { serveSite } from "./support/site.ts";

interface Page {
  goto(url: string): Promise<void>;
  evaluate<T, A>(fn: (argument: A) => T, argument?: A): Promise<Awaited<T>>;
}
interface Launcher {
  launchFirefox(): Promise<
    { browser?: { newPage(): Promise<Page>; close(): Promise<void> }; reason?: string }
  >;
}

test("Firefox: a tab is client and worker, and a page of another origin is rejected", {
  timeout: 300_000,
}, async (t) => {
  const { launchFirefox } = await import(
    pathToFileURL(join(process.cwd(), "tools/lib/firefox.mjs")).href
  ) as Launcher;
  const { browser, reason } = await launchFirefox();
  if (browser === undefined) return t.skip(`no Firefox: ${reason}`);
  const server = startCommand(["dev", "--port", "0", "--json"], tmpdir());
  const site = await serveSite({
    page: "tests/unit/gateway/app/page.ts",
    realm: "tests/unit/gateway/app/realm.ts",
  }, "ws://127.0.0.1:*");
  const { address } = await server.line("ready", ({ event }) => event === "ready");
  const service = new GrpcService({ address: String(address) });
  const gateway = await startGateway({ service, port: 0, origins: [new URL(site.url).origin] });
  const load = async (url: string) => {
    const page = await browser.newPage();
    await page.goto(url);
    await page.evaluate(() =>
      new Promise<void>((resolve) => {
        const loaded = setInterval(() => {
          if (globalThis.far === undefined) return;
          clearInterval(loaded);
          resolve();
        }, 20);
      })
    );
    return page;
  };
  try {
    const page = await load(site.url);
    assert.ok(await page.evaluate((url) => far.connect(url, "q"), gateway.url) === undefined);
    await page.evaluate(() => far.work("q"));
    const { counts, bill, text } = await page.evaluate(() => far.shop("basket"));
    assert.deepEqual([counts, bill.total, text], [[1, 2], 8, "tea;bread;"]);
    assert.equal((await page.evaluate(() => far.walks("walk", 10, 2))).length, 10);
    const foreign = await load(site.url.replace("127.0.0.1", "localhost"));
    const refused = await foreign.evaluate((url) => far.connect(url, "q", "2s"), gateway.url);
    assert.match(refused?.message ?? "", /does not allow the origin http:\/\/localhost:\d+/);
    const wrong = await page.evaluate(
      (url) => far.connect(url, "q", "2s"),
      gateway.url.replace(/#.*/, `#${"x".repeat(43)}`),
    );
    assert.match(wrong?.message ?? "", /rejected the token/);
  } finally {
    await browser.close();
    await gateway.close(0);
    service.close();
    await server.end("SIGINT");
    await site.close();
  }
});
