// A real browser with a separate profile that outlives it, as a process that can be killed, and its
// tabs.
import type { ChildProcess } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContext, CDPSession, Page } from "playwright-core";
import type { Plan } from "../../../faults/crash/program.ts";
import type { OpenTab } from "../app/page.ts";

interface Launcher {
  spawnChromium(
    profile: string,
    extra?: readonly string[],
  ): Promise<{ process?: ChildProcess; endpoint?: string; source?: string; reason?: string }>;
  connectChromium(started: { endpoint: string }): Promise<Browser>;
  killBrowser(child: ChildProcess): Promise<void>;
}

const tool = async (name: string) =>
  await import(pathToFileURL(join(process.cwd(), "tools/lib", name)).href);

export type Hear = (line: string) => void;

/** A profile on disk, and the browsers that use it one after the other. */
export class Profile {
  readonly folder = mkdtempSync(join(tmpdir(), "temporalex-profile-"));
  /** Lines of all pages, in the order in which they were logged. */
  hear: Hear = () => {};
  #launcher: Launcher | undefined;
  #process: ChildProcess | undefined;
  #browser: Browser | undefined;
  source = "";

  /** Starts a browser; returns the reason if it is not installed. */
  async start(extra: readonly string[] = []): Promise<string | undefined> {
    const launcher = this.#launcher = await tool("chromium.mjs") as Launcher;
    const started = await launcher.spawnChromium(this.folder, extra);
    if (started.process === undefined) return started.reason ?? "no browser";
    this.#process = started.process;
    this.source = started.source ?? "";
    this.#browser = await launcher.connectChromium({ endpoint: started.endpoint! });
    return undefined;
  }

  get context(): BrowserContext {
    return this.#browser!.contexts()[0]!;
  }

  /** Loads the page in a new tab. */
  async tab(url: string): Promise<Tab> {
    const page = await this.context.newPage();
    await page.exposeFunction("say", (line: string) => this.hear(line));
    await page.goto(url);
    const tab = new Tab(page, url);
    await tab.loaded();
    return tab;
  }

  /** Kills the browser with all its processes, and waits until it is gone. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    this.#process = undefined;
    await this.#launcher!.killBrowser(child);
    await this.#browser?.close().catch(() => {});
    this.#browser = undefined;
  }

  async remove(): Promise<void> {
    await this.kill();
    const { removeFolder } = await tool("folders.mjs") as {
      removeFolder(folder: string): Promise<void>;
    };
    await removeFolder(this.folder);
  }
}

const HOLDS_MS = 60_000;

/** A tab and what its page can do. */
export class Tab {
  readonly page: Page;
  readonly url: string;

  constructor(page: Page, url: string) {
    this.page = page;
    this.url = url;
  }

  /**
   * Waits until a condition holds in the page, or its promise resolves. Not by Playwright's wait:
   * that polls once per drawn frame, and a background tab draws no frames; and with an interval it
   * accepts a promise as truthy.
   */
  async holds<A>(what: (argument: A) => unknown, argument: A): Promise<void> {
    const until = performance.now() + HOLDS_MS;
    while (!await this.page.evaluate(what as (argument: unknown) => unknown, argument)) {
      if (performance.now() > until) {
        throw new Error(`it did not come to hold within ${HOLDS_MS / 1000} s: ${what}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  loaded(): Promise<void> {
    return this.holds(() => globalThis.tab !== undefined, undefined);
  }

  open(options: OpenTab = {}): Promise<{ name: string; message: string } | undefined> {
    return this.page.evaluate((o) => tab.open(o), options);
  }
  closeStore(): Promise<void> {
    return this.page.evaluate(() => tab.close());
  }
  status(): Promise<
    {
      role: string;
      leader: string | undefined;
      problem: { name: string; message: string } | undefined;
    }
  > {
    return this.page.evaluate(() => tab.status());
  }
  async role(): Promise<string> {
    return (await this.status()).role;
  }
  until(role: string): Promise<void> {
    return this.holds((wanted) => tab.status().role === wanted, role);
  }
  led(): Promise<number[]> {
    return this.page.evaluate(() => tab.led());
  }
  now(): Promise<number> {
    return this.page.evaluate(() => tab.now());
  }
  start(id: string, plan: Plan): Promise<string | undefined> {
    return this.page.evaluate(([i, p]) => tab.start(i, p), [id, plan] as const);
  }
  signal(id: string, name: string): Promise<string | undefined> {
    return this.page.evaluate(([i, n]) => tab.signal(i, n), [id, name] as const);
  }
  update(id: string, name: string): Promise<string | undefined> {
    return this.page.evaluate(([i, n]) => tab.update(i, n), [id, name] as const);
  }
  result(
    id: string,
  ): Promise<{ steps: readonly number[]; signals: readonly string[]; updates: readonly string[] }> {
    return this.page.evaluate((i) => tab.result(i), id);
  }
  work(prefix: string, clients: number): Promise<void> {
    return this.page.evaluate(([p, c]) => tab.work(p, c), [prefix, clients] as const);
  }
  takeUp(round: string): Promise<number> {
    return this.page.evaluate((r) => tab.takeUp(r), round);
  }
  running(): Promise<string[]> {
    return this.page.evaluate(() => tab.running());
  }
  count(): Promise<number> {
    return this.page.evaluate(() => tab.count());
  }
  async exportStore(): Promise<Uint8Array> {
    return Buffer.from(await this.page.evaluate(() => tab.exportStore()), "base64");
  }
  importStore(
    bytes: Uint8Array,
    force = false,
  ): Promise<{ name: string; message: string } | undefined> {
    return this.page.evaluate(
      ([b, f]) => tab.importStore(b, f),
      [Buffer.from(bytes).toString("base64"), force] as const,
    );
  }
  async reload(): Promise<void> {
    await this.page.reload();
    await this.loaded();
  }
  close(): Promise<void> {
    return this.page.close();
  }
  cdp(): Promise<CDPSession> {
    return this.page.context().newCDPSession(this.page);
  }
}
