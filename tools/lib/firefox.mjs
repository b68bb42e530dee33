// Starts Debian's Firefox and drives it over WebDriver BiDi, the W3C's protocol, which Firefox
// speaks by itself on a loopback port. The few commands that a test page needs are sent directly
// over a WebSocket: puppeteer-core, which speaks it too, needs 80 packages on Node 20, and
// Playwright drives only its patched Firefox. `launchFirefox` returns an object like Playwright's
// browser and page, as far as the tools use it.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endProcess } from "./browser_watch.mjs";
import { removeFolder } from "./folders.mjs";
import { which } from "./steps.mjs";

const START_MS = 60_000;
/** What follows the end of a connection or of a realm has come by then. */
const CLOSED_MS = 1000;

/** A profile without network requests, start page and saved data. */
const PREFERENCES = {
  "app.normandy.enabled": false,
  "app.update.disabledForTesting": true,
  "browser.newtabpage.enabled": false,
  "browser.region.network.url": "",
  "browser.safebrowsing.downloads.enabled": false,
  "browser.safebrowsing.malware.enabled": false,
  "browser.safebrowsing.phishing.enabled": false,
  "browser.search.update": false,
  "browser.shell.checkDefaultBrowser": false,
  "browser.startup.page": 0,
  "datareporting.healthreport.uploadEnabled": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  // A busy page is what the tests are.
  "dom.max_chrome_script_run_time": 0,
  "dom.max_script_run_time": 0,
  "extensions.systemAddon.update.enabled": false,
  "extensions.update.enabled": false,
  "media.gmp-manager.updateEnabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "network.dns.disablePrefetch": true,
  "network.prefetch-next": false,
  "services.settings.server": "data:,#remote-settings-dummy/v1",
  "toolkit.telemetry.enabled": false,
  "toolkit.telemetry.server": "data:,",
};

/**
 * Starts a headless Firefox. Resolves with { browser, source }, or with { reason } if none starts.
 * `onLost` is called with an Error if the browser ends or a page crashes; by default the process is
 * ended.
 */
export async function launchFirefox({ onLost = endProcess } = {}) {
  const given = process.env.FIREFOX_PATH;
  const path = given ?? which("firefox-esr") ?? which("firefox");
  if (path === undefined) {
    return { reason: "no Firefox found (set FIREFOX_PATH, or install Debian's firefox-esr)" };
  }
  if (!existsSync(path)) return { reason: `FIREFOX_PATH names ${path}, which is not there` };
  const { WebSocket } = await import("ws").catch(() => ({ WebSocket: undefined }));
  if (WebSocket === undefined) return { reason: "the npm package ws is not installed" };
  const tried = [];
  // A browser that does not start on a busy machine is restarted.
  for (let n = 0; n < 2; n++) {
    try {
      return {
        browser: await Firefox.start(path, WebSocket, onLost),
        source: given === undefined ? "the system's Firefox" : "FIREFOX_PATH",
      };
    } catch (e) {
      tried.push(String(e.message).split("\n")[0]);
    }
  }
  return { reason: `${path}: ${tried.join("; again: ")}` };
}

class Firefox {
  #child;
  #socket;
  #profile;
  #version = "";
  #next = 1;
  #waiting = new Map();
  #listeners = [];

  /** Why it cannot be used any more. */
  #failure;
  #onLost;
  /** The browsing contexts of open pages. */
  #contexts = new Set();
  /** The browsing contexts of the realms of windows. */
  #realms = new Map();

  static async start(path, WebSocket, onLost) {
    const firefox = new Firefox();
    try {
      const address = await firefox.#spawn(path);
      await firefox.#connect(
        new WebSocket(`${address}/session`, { perMessageDeflate: false, maxPayload: 1 << 30 }),
      );
      const { capabilities } = await firefox.send("session.new", { capabilities: {} });
      firefox.#version = capabilities.browserVersion;
      await firefox.send("session.subscribe", {
        events: ["log.entryAdded", "script.realmCreated", "script.realmDestroyed"],
      });
      firefox.listen((event) => firefox.#watchRealms(event));
      firefox.#onLost = onLost;
      return firefox;
    } catch (e) {
      await firefox.close();
      throw e;
    }
  }

  /** Resolves with the address that it listens on. */
  #spawn(path) {
    this.#profile = mkdtempSync(join(tmpdir(), "firefox-"));
    const lines = Object.entries(PREFERENCES).map(([name, value]) =>
      `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`
    );
    writeFileSync(join(this.#profile, "user.js"), lines.join("\n"));
    const args = [
      "--headless",
      "--no-remote",
      "--profile",
      this.#profile,
      "--remote-debugging-port",
      "0",
    ];
    // Its home is the profile's folder: it leaves nothing elsewhere, and runs where the user has no
    // home.
    const env = { ...process.env, HOME: this.#profile, MOZ_CRASHREPORTER_DISABLE: "1" };
    const child = this.#child = spawn(path, args, { env, stdio: ["ignore", "ignore", "pipe"] });
    return new Promise((resolve, reject) => {
      /** @type {string | undefined} */
      let said = "";
      const timer = setTimeout(
        () => reject(new Error(`it did not listen within ${START_MS / 1000} s`)),
        START_MS,
      );
      child.stderr.on("data", (chunk) => {
        if (said === undefined) return;
        said += chunk;
        const address = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(said)?.[1];
        if (address === undefined) return;
        said = undefined;
        clearTimeout(timer);
        resolve(address);
      });
      child.on("error", reject);
      child.on("exit", (code, signal) => {
        clearTimeout(timer);
        const error = new Error(
          `Firefox ended (${signal ?? code}) ${said?.trim().split("\n").at(-1) ?? ""}`.trim(),
        );
        reject(error);
        this.#fail(error);
      });
    });
  }

  #connect(socket) {
    this.#socket = socket;
    socket.on("message", (data) => this.#receive(JSON.parse(String(data))));
    return new Promise((resolve, reject) => {
      socket.on("open", resolve);
      socket.on("error", reject);
      // If the process ends, it says more.
      socket.on(
        "close",
        () =>
          setTimeout(() => this.#fail(new Error("the connection to it was closed")), CLOSED_MS)
            .unref(),
      );
    });
  }

  /** A page whose process crashed keeps its tab, and calls that wait for it never end. */
  #watchRealms({ method, params }) {
    if (method === "script.realmCreated" && params.type === "window") {
      this.#realms.set(params.realm, params.context);
    }
    if (method !== "script.realmDestroyed") return;
    const context = this.#realms.get(params.realm);
    this.#realms.delete(params.realm);
    if (!this.#contexts.has(context)) return;
    // After a navigation, code runs in the new document. In the page that Firefox shows for a
    // crash, none may run.
    setTimeout(async () => {
      try {
        await this.send("script.callFunction", {
          functionDeclaration: "() => 1",
          awaitPromise: false,
          target: { context },
        });
      } catch (error) {
        if (this.#contexts.has(context)) this.#fail(new Error(`a page crashed (${error.message})`));
      }
    }, CLOSED_MS).unref();
  }

  #receive(message) {
    if (message.type === "event") return this.#listeners.forEach((listener) => listener(message));
    const { resolve, reject } = this.#waiting.get(message.id) ?? {};
    this.#waiting.delete(message.id);
    if (message.type === "success") resolve?.(message.result);
    else reject?.(new Error(`${message.error}: ${message.message}`));
  }

  #fail(error) {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#onLost?.(new Error(`browser lost (Firefox): ${error.message}`));
  }

  send(method, params) {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  listen(listener) {
    this.#listeners.push(listener);
  }

  version() {
    return this.#version;
  }

  async newPage() {
    const { context } = await this.send("browsingContext.create", { type: "tab" });
    this.#contexts.add(context);
    return new Page(this, context);
  }

  /** Closes the tab of a page. */
  async closePage(context) {
    this.#contexts.delete(context);
    await this.send("browsingContext.close", { context });
  }

  /** Ends the browser with all its processes, and removes its profile. */
  async close() {
    this.#onLost = undefined;
    const child = this.#child;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      if (this.#socket?.readyState === 1 && this.#failure === undefined) {
        this.send("browser.close", {}).catch(() => {});
      } else child.kill("SIGKILL");
      const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
      await ended;
      clearTimeout(timer);
    }
    this.#socket?.close();
    await removeFolder(this.#profile);
  }
}

class Page {
  #firefox;
  #context;

  constructor(firefox, context) {
    this.#firefox = firefox;
    this.#context = context;
  }

  /** "pageerror": uncaught errors. "console": lines of console, as { text() }. */
  on(event, listener) {
    this.#firefox.listen(({ method, params }) => {
      if (method !== "log.entryAdded" || params.source?.context !== this.#context) return;
      if (event === "pageerror" && params.type === "javascript" && params.level === "error") {
        listener(new Error(params.text));
      }
      if (event === "console" && params.type === "console") listener({ text: () => params.text });
    });
  }

  async goto(url) {
    await this.#firefox.send("browsingContext.navigate", {
      context: this.#context,
      url,
      wait: "complete",
    });
  }

  /** Runs a function of the page, with one argument; argument and result are JSON. */
  async evaluate(fn, argument) {
    const { type, result, exceptionDetails } = await this.#firefox.send("script.callFunction", {
      functionDeclaration: `async (text) => JSON.stringify(await (${fn})(JSON.parse(text)))`,
      arguments: [{ type: "string", value: JSON.stringify(argument ?? null) }],
      awaitPromise: true,
      target: { context: this.#context },
      userActivation: false,
    });
    if (type === "exception") throw new Error(exceptionDetails.text);
    return result.type === "string" ? JSON.parse(result.value) : undefined;
  }

  /** As if its tab were closed. */
  async close() {
    await this.#firefox.closePage(this.#context);
  }
}
