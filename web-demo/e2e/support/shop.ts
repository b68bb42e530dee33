// Helpers for the tests of the shop.
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Browser, type BrowserContext, expect, type Page } from "@playwright/test";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const tool = async <T>(path: string) => (await import(pathToFileURL(here(path)).href)) as T;

/** The duration of a charge. */
const CHARGE_MS = Number(
  /CHARGE_MS = (\d+)/.exec(readFileSync(here("../../src/live/activities.ts"), "utf8"))![1],
);

/**
 * Makes charges wait until the test ends them, so that a test can act during a charge on any
 * machine. Returns the function that ends them.
 */
export async function holdCharges(context: BrowserContext): Promise<() => void> {
  let end!: () => void;
  const ended = new Promise<void>((resolve) => (end = resolve));
  await context.exposeFunction("chargesEnd", () => ended);
  await context.addInitScript((chargeMs) => {
    type Later = (run: () => void, ms?: number, ...more: unknown[]) => unknown;
    const page = globalThis as unknown as { chargesEnd(): Promise<void>; setTimeout: Later };
    const later = page.setTimeout;
    page.setTimeout = (run, ms, ...more) =>
      ms === chargeMs ? void page.chargesEnd().then(run) : later(run, ms, ...more);
  }, CHARGE_MS);
  return end;
}

/** A tab with the shop open. The first tab of a context asks before it stores data. */
export class Shop {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  static async open(context: BrowserContext, url: string): Promise<Shop> {
    const page = await context.newPage();
    await page.goto(`${url}#/live`);
    await page.locator("#shop[data-ready]").waitFor();
    const ask = page.locator("#open-shop");
    if (await ask.count() > 0) await ask.click();
    const shop = new Shop(page);
    await shop.ready();
    return shop;
  }

  async ready(): Promise<void> {
    await this.page.locator("#shop[data-open]").waitFor();
  }

  async role(wanted: "leader" | "follower"): Promise<void> {
    await this.page.locator(`#shop[data-role=${wanted}]`).waitFor();
  }

  async add(sku: string): Promise<void> {
    await this.page.locator(`[data-add=${sku}]`).click();
    await this.page.locator(`[data-remove=${sku}]`).waitFor();
  }

  async has(items: readonly string[]): Promise<void> {
    await expect.poll(() =>
      this.page.locator("#items [data-remove]").evaluateAll((all) =>
        all.map((e) => (e as HTMLElement).dataset["remove"])
      )
    )
      .toEqual(items);
  }

  async published(state: unknown): Promise<void> {
    await expect.poll(async () =>
      JSON.parse(await this.page.locator("#run pre").innerText()) as unknown
    ).toEqual(state);
  }
}

interface Started {
  readonly process?: ChildProcess;
  readonly endpoint: string;
  readonly reason?: string;
}
interface ChromiumTools {
  spawnChromium(profile: string): Promise<Started>;
  connectChromium(started: Started): Promise<Browser>;
  killBrowser(child: ChildProcess): Promise<void>;
}

/** A profile on disk and successive browser processes that use it and can be killed. */
export class Profile {
  readonly #folder = mkdtempSync(join(tmpdir(), "temporalex-demo-"));
  #process: ChildProcess | undefined;
  #browser: Browser | undefined;

  async start(): Promise<void> {
    const { spawnChromium, connectChromium } = await tool<ChromiumTools>(
      "../../../tools/lib/chromium.mjs",
    );
    const started = await spawnChromium(this.#folder);
    if (started.process === undefined) throw new Error(`no browser: ${started.reason}`);
    this.#process = started.process;
    this.#browser = await connectChromium(started);
  }

  get context(): BrowserContext {
    return this.#browser!.contexts()[0]!;
  }

  /** Sends SIGKILL, as the system does when memory runs out. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    this.#process = undefined;
    const { killBrowser } = await tool<ChromiumTools>("../../../tools/lib/chromium.mjs");
    await killBrowser(child);
    await this.#browser!.close().catch(() => {});
  }

  async remove(): Promise<void> {
    await this.kill();
    const { removeFolder } = await tool<{ removeFolder(path: string): Promise<void> }>(
      "../../../tools/lib/folders.mjs",
    );
    await removeFolder(this.#folder);
  }
}
