// Hostile code, files, bundles and histories cannot reach the page, the browser's storage or the
// network, and can be stopped.
import { gzipSync } from "node:zlib";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type App, expect, serveDemo, test } from "./support/story.ts";
import { ownProgram, permit } from "./support/programs.ts";

const { history, code } = ownProgram();

async function open(
  app: App,
  files: readonly { readonly name: string; readonly content: string | Uint8Array }[],
): Promise<void> {
  await app.start();
  await app.drop([{ name: "tally.json", content: history }]);
  await expect(app.page.locator("#verdict")).toHaveText(/No code/);
  await app.drop(files);
}

/** A server of another origin that counts its requests. */
async function stranger(): Promise<
  { readonly url: string; readonly hits: string[]; close(): void }
> {
  const hits: string[] = [];
  const server = createServer((request, response) => {
    hits.push(request.url ?? "");
    response.writeHead(200, {
      "access-control-allow-origin": "*",
      "content-type": "text/javascript",
    }).end("");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    hits,
    close: () => server.close(),
  };
}

/**
 * Attempts of code that has bypassed the guard: it runs as the worker itself. Each attempt ends
 * with an error.
 */
const ATTEMPTS = (there: string, here: string): { readonly [name: string]: string } => ({
  fetch: `await fetch("${there}fetch")`,
  "fetch of the page's origin": `await fetch("${here}")`,
  "fetch without cors": `await fetch("${there}nocors", { mode: "no-cors", keepalive: true })`,
  XMLHttpRequest: `const x = new XMLHttpRequest(); x.open("GET", "${there}xhr", false); x.send()`,
  WebSocket: `await new Promise((y, n) => { const w = new WebSocket("${
    there.replace("http", "ws")
  }ws"); w.onopen = y; w.onerror = () => n(new Error("refused")) })`,
  EventSource:
    `await new Promise((y, n) => { const e = new EventSource("${there}es"); e.onopen = y; e.onerror = () => n(new Error("refused")) })`,
  WebTransport: `await new WebTransport("${there.replace("http:", "https:")}wt").ready`,
  RTCPeerConnection: `new RTCPeerConnection()`,
  importScripts: `importScripts("${there}script.js")`,
  "importScripts of the page's origin": `importScripts("${here}assets/x.js")`,
  "importScripts of a blob": `importScripts(URL.createObjectURL(new Blob(["1"])))`,
  "import()": `await import("${there}module.js")`,
  "import() of data": `await import("data:text/javascript,export default 1")`,
  "a worker of another origin":
    `await new Promise((y, n) => { const w = new Worker("${there}worker.js"); w.onmessage = y; w.onerror = () => n(new Error("refused")) })`,
  "fetch in a nested worker":
    `await new Promise((y, n) => { const w = new Worker(URL.createObjectURL(new Blob(['fetch("${there}inner").then(() => postMessage(1), (e) => postMessage(String(e)))']))); w.onmessage = ({ data }) => data === 1 ? y() : n(new Error(data)); w.onerror = () => n(new Error("refused")) })`,
  SharedWorker: `new SharedWorker("${here}x.js")`,
  indexedDB:
    `await new Promise((y, n) => { const r = indexedDB.open("x"); r.onsuccess = y; r.onerror = () => n(r.error) })`,
  caches: `await caches.open("x")`,
  "private files": `await navigator.storage.getDirectory()`,
  locks: `await navigator.locks.request("x", () => 1)`,
  cookies: `await cookieStore.getAll()`,
  localStorage: `localStorage.getItem("x")`,
  document: `document.title`,
  parent: `parent.document.title`,
  beacon: `navigator.sendBeacon("${there}beacon")`,
});

test("code that bypasses the guard cannot reach network, storage, channels or the page", async ({ app, watch }) => {
  await app.sample("counter");
  const other = await stranger();
  try {
    const heard = app.page.evaluate(() => {
      document.cookie = "secret=1";
      localStorage.setItem("secret", "1");
      const channel = new BroadcastChannel("secret");
      const got: unknown[] = [];
      channel.onmessage = ({ data }) => got.push(data);
      return new Promise((resolve) =>
        setTimeout(
          () => (channel.postMessage("from the page"), setTimeout(() => resolve(got), 500)),
          1500,
        )
      );
    });
    const attempts = ATTEMPTS(other.url, app.url);
    const script = `
      const channel = new BroadcastChannel("secret");
      let overheard = "nothing";
      channel.onmessage = ({ data }) => overheard = data;
      onmessage = async () => {
        const results = { origin: self.origin };
        for (let i = 0; i < 20; i++) channel.postMessage("from the code");
        ${
      Object.entries(attempts).map(([name, attempt]) =>
        `try { await (async () => { ${attempt} })(); results[${
          JSON.stringify(name)
        }] = "reached"; } catch (e) { results[${JSON.stringify(name)}] = "refused"; }`
      ).join("\n")
    }
        setTimeout(() => { results.overheard = overheard; postMessage(results); }, 2500);
      };`;
    const results = await app.page.evaluate(runRaw, { script, sandboxed: true });
    const wanted = Object.fromEntries(Object.keys(attempts).map((name) => [name, "refused"]));
    expect(results).toEqual({ ...wanted, origin: "null", overheard: "nothing" });
    expect(await heard).toEqual([]);
    expect(other.hits).toEqual([]);
  } finally {
    other.close();
  }
  // The browser reports requests that the policy blocked, although it never sent them: the other
  // server received no request.
  const reported = new RegExp(`^(?:console|policy): |^request: ${other.url}`);
  for (const seen of watch.taken()) expect(seen).toMatch(reported);
});

/**
 * Starts a sandboxed frame with the given script, as the page does. Returns the script's first
 * message.
 */
async function runRaw(
  { script, sandboxed }: { readonly script: string; readonly sandboxed: boolean },
): Promise<unknown> {
  const frame = document.createElement("iframe");
  if (sandboxed) frame.setAttribute("sandbox", "allow-scripts");
  frame.src = new URL("sandbox.html", document.baseURI).href;
  const { port1, port2 } = new MessageChannel();
  const loaded = new Promise((resolve) => frame.onload = resolve);
  document.body.append(frame);
  await loaded;
  if (sandboxed && frame.contentDocument !== null) {
    throw new Error("the page reaches into the frame, so the frame may reach out of it");
  }
  const here = new Promise((resolve) => port1.onmessage = ({ data }) => resolve(data));
  frame.contentWindow!.postMessage(
    { t: "start", script, core: new ArrayBuffer(0), messagesPerSecond: 100 },
    "*",
    [port2],
  );
  const greeting = await here;
  if ((greeting as { t: string }).t !== "here") return greeting;
  const worker = new MessageChannel();
  const first = new Promise((resolve) => {
    worker.port1.onmessage = ({ data }) => data !== undefined && resolve(data);
    port1.onmessage = ({ data }) => resolve(data);
  });
  port1.postMessage({ t: "worker", id: 1 }, [worker.port2]);
  return await first;
}

test("a frame with the page's origin does not run code, whatever the server sends", async ({ page, watch }) => {
  await watch.follow(page.context());
  const site = await serveDemo({ path: "/plain/", headers: false });
  try {
    await page.goto(site.url);
    await page.locator("#main").waitFor();
    expect(await page.evaluate(runRaw, { script: "postMessage('ran')", sandboxed: false })).toEqual(
      {
        t: "refused",
        message: `the origin of the frame is ${
          new URL(site.url).origin
        }; code runs only in an opaque origin`,
      },
    );
    expect(
      await page.evaluate(runRaw, {
        script: "onmessage = () => postMessage('ran')",
        sandboxed: true,
      }),
    ).toBe("ran");
  } finally {
    await site.close();
  }
  watch.taken();
});

test("code that floods the page with messages is terminated", async ({ app }) => {
  await app.sample("counter");
  // Its first messages arrive; the frame reports the termination on another port.
  const died = await app.page.evaluate(runRaw, {
    script: "onmessage = () => { for (let i = 0; i < 1e5; i++) postMessage(undefined); }",
    sandboxed: true,
  });
  expect(died).toEqual({
    t: "died",
    id: 1,
    reason: "the worker sent more than 100 messages in a second",
  });
});

test("the watchdog terminates an infinite loop and reports its line; the page stays responsive", async ({ app }) => {
  await open(app, [{ name: "tally.ts", content: code.replace("publishState(0);", "for (;;);") }]);
  await permit(app);
  await expect(app.page.locator("#verdict")).toHaveText(/Fails|Not replayed/);
  const line = code.slice(0, code.indexOf("publishState(0);")).split("\n").length;
  await expect(app.page.locator(".code-line.red")).toHaveAttribute("data-line", String(line));
  expect(await app.page.evaluate(() => 1 + 1)).toBe(2);
});

/** Endless top-level code of a module, which runs before the watchdog starts. */
const ENDLESS: { readonly [name: string]: string } = {
  "a loop": "for (;;);",
  recursion: "const down = (): void => { try { down(); } finally { down(); } };\ndown();",
  "a loop of microtasks":
    "const again = (): Promise<void> => Promise.resolve().then(again);\nvoid again();",
  "a loop that allocates":
    "let all: number[][] = [];\nfor (;;) if (all.push(new Array(1e5).fill(1.5)) > 100) all = [];",
};

test("Stop terminates a loop, recursion, microtasks and allocation within a second", async ({ app }) => {
  const workers = () => app.page.workers().filter((worker) => worker.url().startsWith("blob:"));
  for (const [name, text] of Object.entries(ENDLESS)) {
    // A new page without the first screen, whose run would start other workers at any time.
    await app.forgetRuns();
    await app.page.goto("about:blank");
    await app.sample("counter");
    await app.drop([{ name: "tally.json", content: history }]);
    await expect(app.page.locator("#verdict")).toHaveText(/No code/);
    const others = new Set(workers());
    await app.drop([{ name: "tally.ts", content: `${code}\n${text}` }]);
    await permit(app);
    const stop = app.page.getByRole("button", { name: "Stop" });
    await stop.waitFor();
    const started = () => workers().filter((worker) => !others.has(worker));
    await expect.poll(() => started().length, { message: name }).toBeGreaterThan(0);
    const running = started();
    await stop.click();
    const began = Date.now();
    await expect(app.page.locator("#verdict"), name).toHaveText(/Not replayed/);
    const left = () => workers().filter((worker) => running.includes(worker)).length;
    await expect.poll(left, { message: name, intervals: [20] }).toBe(0);
    test.info().annotations.push({
      type: "note",
      description: `${name}: stopped after ${Date.now() - began} ms`,
    });
  }
});

// The watchdog usually ends small arrays; large arrays crash the process of the frame earlier.
for (const length of ["1e6", "5e7"]) {
  test(`code that takes all memory does not take the page with it: arrays of ${length}`, async ({ app, watch }) => {
    await open(app, [{
      name: "tally.ts",
      content: code.replace(
        "publishState(0);",
        `const all: number[][] = []; for (;;) all.push(new Array(${length}).fill(1.5));`,
      ),
    }]);
    app.page.once(
      "crash",
      () =>
        test.info().annotations.push({
          type: "note",
          description: `arrays of ${length}: the process of the frame ended`,
        }),
    );
    const inPage = await pageEvaluator(app);
    await permit(app);
    const verdict = () => inPage('document.querySelector("#verdict").textContent');
    await expect.poll(verdict, { timeout: 60_000 }).toMatch(/Fails|Not replayed/);
    expect(await inPage("1 + 1")).toBe(2);
    watch.taken();
  });
}

/**
 * Evaluates in the page over a separate connection: Playwright treats the crash of a frame's
 * process as the crash of the page. The frame has a separate process, and the page continues.
 */
async function pageEvaluator({ page }: App): Promise<(expression: string) => Promise<unknown>> {
  const session = await page.context().browser()!.newBrowserCDPSession();
  const { targetInfos } = await session.send("Target.getTargets");
  const { targetId } = targetInfos.find(({ type, url }) => type === "page" && url === page.url())!;
  const { sessionId } = await session.send("Target.attachToTarget", { targetId, flatten: false });
  const waiting = new Map<number, (value: unknown) => void>();
  session.on("Target.receivedMessageFromTarget", (received) => {
    const { id, result } = JSON.parse(received.message) as {
      id?: number;
      result?: { result?: { value?: unknown } };
    };
    if (received.sessionId === sessionId && id !== undefined) {
      waiting.get(id)?.(result?.result?.value);
    }
  });
  let last = 0;
  return async (expression) => {
    const id = ++last;
    const answer = new Promise((resolve) => waiting.set(id, resolve));
    const params = { expression, returnByValue: true };
    await session.send("Target.sendMessageToTarget", {
      sessionId,
      message: JSON.stringify({ id, method: "Runtime.evaluate", params }),
    });
    return await answer;
  };
}

test("names such as __proto__ do not change prototypes", async ({ app }) => {
  const hostile = history.replace(
    '"eventId"',
    '"__proto__": { "polluted": 1 }, "constructor": { "prototype": { "polluted": 1 } }, "eventId"',
  );
  await app.start();
  await app.drop([{ name: "hostile.json", content: hostile }]);
  await app.page.waitForTimeout(500);
  const bundle =
    `// Workflow bundle of temporalex, format 1: x\n//# bundle {"workflows":["__proto__"],"interceptors":[],"modules":1,"temporalex":"0"}\n` +
    `//# module {"name":"__proto__","kind":"esm","lines":2,"imports":{"__proto__":"realm:__proto__","constructor":"x"},"requires":{}}\n` +
    `import "constructor"; import "toString"; export const Tally = "Tally";\nworkflow("Tally", {});\n//# end\n` +
    `//# sourceMappingURL=data:application/json,${
      encodeURIComponent(
        '{"version":3,"sources":["__proto__","../../../../etc/passwd"],"sourcesContent":[{"__proto__":{"polluted":1}}],"names":["__proto__"],"mappings":"' +
          `${"A".repeat(200_000)};${";".repeat(200_000)}AA${"g".repeat(1000)}A"}`,
      )
    }`;
  await open(app, [{ name: "hostile.js", content: bundle }]);
  await permit(app);
  await expect(app.page.locator("#verdict")).toHaveText(/Not replayed|Not parsed|Fails/);
  expect(await app.page.evaluate(() => ({}) as { polluted?: unknown }).then((o) => o.polluted))
    .toBeUndefined();
  expect(await app.page.evaluate(() => Object.keys(Object.prototype).length)).toBe(0);
});

test("an endless module bundle is rejected and its download stops", async ({ app }) => {
  const bundle = `// Workflow bundle of temporalex, format 1: workflow("Tally"\n` +
    `//# bundle {"workflows":["a"],"interceptors":[],"modules":1e12,"temporalex":"0"}\n` +
    `//# module {"name":"a","kind":"esm","lines":-1,"imports":{},"requires":{}}\n//# end\n`;
  await open(app, [{ name: "hostile.js", content: bundle }]);
  await permit(app);
  await expect(app.page.locator("#verdict")).toHaveAttribute(
    "title",
    /damaged workflow bundle: a module needs a name/,
  );
});

test("a history that decompresses beyond the size limit is rejected", async ({ app }) => {
  await app.start();
  await app.drop([{ name: "bomb.json.gz", content: gzipSync(Buffer.alloc(300 * 2 ** 20, 32)) }]);
  await expect(app.page.locator(".notices")).toContainText("256 MiB when it is unpacked");
});
