// The base of each test: `test` provides the built page on a loopback server and a tab that records
// problems. After each test it asserts that the console has no error, the policy was not violated,
// and no request went to another origin.
import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type BrowserContext, expect, type Page, test as base } from "@playwright/test";

interface Site {
  readonly url: string;
  close(): Promise<void>;
}
interface Server {
  serveDemo(options: { readonly path?: string; readonly headers?: boolean }): Promise<Site>;
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
export const serveDemo = async (
  options: { readonly path?: string; readonly headers?: boolean },
): Promise<Site> =>
  await ((await import(pathToFileURL(here("../../../tools/demo.mjs")).href)) as Server).serveDemo(
    options,
  );

/** The JSON of a sample. */
export const sample = (id: string): string =>
  readFileSync(here(`../../samples/${id}.json`), "utf8");
/** The events of a sample. */
// deno-lint-ignore no-explicit-any
export const eventsOf = (id: string): any[] => JSON.parse(sample(id)).events;

const cart = readFileSync(here("../../../examples/shopping_cart/workflow.ts"), "utf8");

/** The line (from 1) of the sample "shopping_cart" that contains a text. */
export function cartLine(part: string): number {
  const at = cart.indexOf(part);
  if (at < 0) throw new Error(`the sample has no ${part}`);
  return cart.slice(0, at).split("\n").length;
}

/** Problems that a tab recorded. */
export class Watch {
  readonly #origin: string;
  readonly #bad: string[] = [];
  /** All requested addresses. */
  readonly requests: string[] = [];

  constructor(origin: string) {
    this.#origin = origin;
  }

  follow(context: BrowserContext): Promise<void> {
    return follow(context, () => this);
  }

  /** Notes a problem. */
  note(problem: string): void {
    this.#bad.push(problem);
  }

  /** Notes a request. */
  asked(url: string): void {
    this.requests.push(url);
    if (!/^(blob|data|about):/.test(url) && new URL(url).origin !== this.#origin) {
      this.note(`request: ${url}`);
    }
  }

  /** Removes and returns the problems so far, which the test expects. */
  taken(): readonly string[] {
    return this.#bad.splice(0);
  }

  clean(): void {
    expect(this.#bad).toEqual([]);
  }
}

/** Passes problems and requests of a context's tabs to the watch of that moment. */
async function follow(context: BrowserContext, watch: () => Watch | undefined): Promise<void> {
  await context.exposeFunction("tellBreach", (text: string) => watch()?.note(`policy: ${text}`));
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (e) => {
      (globalThis as unknown as { tellBreach(text: string): void }).tellBreach(
        `${e.effectiveDirective}: ${e.blockedURI} ${e.sourceFile}`,
      );
    });
  });
  context.on("console", (message) => {
    if (message.type() !== "error") return;
    watch()?.note(`console: ${message.text()} (${message.location().url})`);
  });
  context.on("weberror", (error) => {
    watch()?.note(`error: ${error.error().stack ?? error.error().message}`);
  });
  context.on("request", (request) => watch()?.asked(request.url()));
}

/** The page in one tab, with helpers for tests. */
export class App {
  readonly page: Page;
  readonly url: string;
  readonly watch: Watch;

  constructor(page: Page, url: string, watch: Watch) {
    this.page = page;
    this.url = url;
    this.watch = watch;
  }

  /** Loads the page. `hash`: "#/open?run=sample:counter&e=5", or "" for the first screen. */
  async start(hash = ""): Promise<void> {
    await this.page.goto(`${this.url}${hash}`);
    await this.page.locator("#main").waitFor();
  }

  /** Forgets the runs of this tab: the next load restores no run and no code. */
  async forgetRuns(): Promise<void> {
    if (this.page.url().startsWith(this.url)) {
      await this.page.evaluate(() => sessionStorage.clear());
    }
  }

  /** Opens a sample and waits until it is replayed. */
  async sample(id: string, event = 1): Promise<void> {
    await this.start(`#/open?run=sample:${id}&e=${event}`);
    await this.replayed(`sample:${id}`);
  }

  /** Waits for the verdict on the current run. `run`: its key, if another run was shown before. */
  async replayed(run?: string): Promise<void> {
    const verdict = this.page.locator(
      run === undefined ? "#verdict" : `#verdict[data-run="${run}"]`,
    );
    await expect(verdict).toHaveText(/Replays|Diverges|Fails/);
  }

  /** Drops files on the page. */
  async drop(
    files: readonly { readonly name: string; readonly content: string | Uint8Array }[],
  ): Promise<void> {
    const packed = files.map(({ name, content }) => ({
      name,
      base64: Buffer.from(content).toString("base64"),
    }));
    const transfer = await this.page.evaluateHandle((list) => {
      const data = new DataTransfer();
      for (const { name, base64 } of list) {
        data.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
      }
      return data;
    }, packed);
    await this.page.dispatchEvent("#main", "dragover", { dataTransfer: transfer });
    await this.page.dispatchEvent("#main", "drop", { dataTransfer: transfer });
  }

  /** The position that the transport shows. */
  async position(): Promise<number> {
    return Number(
      /Event ([\d,]+) of/.exec(await this.page.locator("#position").innerText())?.[1]?.replaceAll(
        ",",
        "",
      ),
    );
  }

  /** Waits until the position is `event`. */
  async isAt(event: number): Promise<void> {
    await expect(this.page.locator("#position")).toHaveText(new RegExp(`^Event ${event} of`));
  }
}

interface Fixtures {
  readonly watch: Watch;
  readonly app: App;
}

/** What a tab of an earlier test may have left behind; the cache of files and code is kept. */
const LEFT_BEHIND = "cookies,file_systems,indexeddb,local_storage,service_workers,cache_storage";

/** A context for the tests of one worker, and who listens to its tabs. */
interface KeptContext {
  readonly context: BrowserContext;
  listener: Watch | undefined;
}

export const test = base.extend<Fixtures, { readonly site: Site; readonly kept: KeptContext }>({
  site: [
    // Playwright reads the dependencies of a fixture from the parameter's pattern.
    async ({ browserName: _ }, use) => {
      // Not at the root: the page must work at any path.
      const site = await serveDemo({ path: "/some/where/" });
      await use(site);
      await site.close();
    },
    { scope: "worker" },
  ],
  // The page compiles a third faster where its files and their code are cached.
  kept: [
    async ({ browser }, use, { project }) => {
      const { viewport, reducedMotion, serviceWorkers } = project.use;
      const context = await browser.newContext({ viewport, reducedMotion, serviceWorkers });
      const kept: KeptContext = { context, listener: undefined };
      await follow(context, () => kept.listener);
      await use(kept);
      await context.close();
    },
    { scope: "worker" },
  ],
  watch: async ({ site }, use) => {
    const watch = new Watch(new URL(site.url).origin);
    await use(watch);
    watch.clean();
  },
  app: async ({ browser, kept, serviceWorkers, site, watch }, use) => {
    if (serviceWorkers === "allow") {
      const context = await browser.newContext();
      await watch.follow(context);
      await use(new App(await context.newPage(), site.url, watch));
      return await context.close();
    }
    kept.listener = watch;
    const { context } = kept;
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send("Storage.clearDataForOrigin", {
      origin: new URL(site.url).origin,
      storageTypes: LEFT_BEHIND,
    });
    await session.detach();
    await use(new App(page, site.url, watch));
    await Promise.all(context.pages().map((open) => open.close()));
    await context.clearPermissions();
  },
});
export { expect };
