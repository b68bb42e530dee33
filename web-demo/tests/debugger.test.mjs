// The debugger part of the page, in a real browser: files in, steps forward and back, what is shown at positions; under the strict policy, from
// a folder of a site, with nothing asked of any server once it is loaded.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { after, before, test } from "node:test";
import { CSP } from "../csp.mjs";
import { browser, checkBasics, checkContrast, drop, site, text, Watched } from "./support.mjs";

const sample = (name) => readFileSync(new URL(`../samples/${name}.json`, import.meta.url), "utf8");
const events = (name) => JSON.parse(sample(name)).events;

let served;
before(async () => (served = await site()));
after(() => served.close());

/** A tab with the debugger open. Everything that it needs is there when `body` begins; whatever it asks for afterwards is in `later`. */
const inDebugger = (name, body, options = {}) =>
  test(name, { timeout: 300_000 }, async (t) => {
    const launched = await browser(t);
    if (launched === undefined) return;
    try {
      const context = await launched.newContext(options);
      const tab = await Watched.open(context, `${served.url}#/debugger`);
      await tab.page.waitForSelector("#debugger[data-ready]");
      const files = tab.requests.filter((request) => /\.wasm$/.test(request));
      assert.match(files.join(" "), /^\S*\/worker-[^/ ]*\.wasm$/, "of the core, the half that runs workflow code, once");
      tab.requests.length = 0;
      await body(tab.page, tab, context);
      assert.deepEqual(tab.requests, [], "no request once the debugger is loaded");
      tab.clean(served.url);
    } finally {
      await launched.close();
    }
  });

const opened = (page) => page.waitForSelector("#session-title");
const position = async (page) => Number(/event (\d+) of/.exec(await text(page, "#position"))?.[1]);
const published = async (page) => {
  const pre = page.locator("#published pre");
  return await pre.count() === 0 ? undefined : JSON.parse(await pre.innerText());
};

inDebugger(
  "a dropped history is stepped through with the keyboard, forward and back, and both ways show the same",
  async (page) => {
    await drop(page, "cart.json", sample("shopping_cart"));
    await opened(page);
    assert.match(await text(page, "#session-title"), /^ShoppingCart\s+replays$/);
    const list = events("shopping_cart");
    assert.match(await text(page, "#position"), new RegExp(`event 1 of ${list.length}`));
    const seen = [];
    const look = async () => [
      await position(page),
      await page.locator("#panels").innerText(),
      await text(page, "[aria-selected=true] .type"),
    ];
    for (let i = 1; i <= list.length; i++) {
      seen.push(await look());
      await page.keyboard.press("ArrowRight");
    }
    assert.deepEqual(seen.map(([at]) => at), list.map((_, i) => i + 1));
    const names = list.map(({ eventType }) => eventType.replace("EVENT_TYPE_", "").replaceAll("_", "").toLowerCase());
    assert.deepEqual(seen.map(([, , type]) => type.toLowerCase()), names);
    assert.equal(await position(page), list.length, "it stays at the last event");
    assert.match(await text(page, "#outcome"), /completed[\s\S]*"paid": true/);
    for (let i = list.length - 1; i >= 1; i--) {
      assert.deepEqual(await look(), seen[i]);
      await page.keyboard.press("ArrowLeft");
    }
    assert.deepEqual(await look(), seen[0]);
  },
);

inDebugger("published state, awaits, commands and messages at positions", async (page) => {
  await page.click("[data-sample=shopping_cart]");
  await opened(page);
  assert.equal(await published(page), undefined);
  assert.match(await text(page, "#open"), /has not started/);
  const states = [];
  let last = "";
  do {
    await page.keyboard.press("Shift+ArrowRight");
    const state = await published(page);
    if (JSON.stringify(state) !== last) states.push(state);
    last = JSON.stringify(state);
  } while (await position(page) < events("shopping_cart").length);
  assert.deepEqual(states, [
    { phase: "open", itemCount: 0 },
    { phase: "open", itemCount: 1 },
    { phase: "open", itemCount: 2 },
    { phase: "open", itemCount: 1 },
    { phase: "charging", itemCount: 1 },
    { phase: "confirming", totalCents: 1900 },
    { phase: "done", totalCents: 1900 },
  ]);

  await page.keyboard.press("Home");
  await page.keyboard.press("Shift+ArrowRight");
  assert.match(
    await text(page, "#open"),
    /receive[\s\S]*shopping_cart\/workflow\.ts:\d+[\s\S]*takes update add_item, update remove_item, signal checkout/,
  );
  assert.match(await text(page, ".source .parked"), /await receive/);
  const scheduled = events("shopping_cart").find(({ activityTaskScheduledEventAttributes: a }) => a !== undefined).eventId;
  await page.locator("#slider").fill(String(scheduled));
  assert.equal(await position(page), Number(scheduled));
  assert.match(await text(page, "#commands"), /ScheduleActivity[\s\S]*charge\("ada"/);
  assert.match(await text(page, "#commands"), new RegExp(`became event ${scheduled}`));
  assert.match(await text(page, "#open"), /activity\s+charge\("ada"/);
  assert.match(await text(page, "#messages"), /checkout\(\)[\s\S]*add_item/);
  assert.match(await text(page, ".source .parked"), /shop\.charge/);
  assert.match(await text(page, "#event"), /"activityType"/);

  // A row, a link in a panel, the buttons.
  await page.locator("#events [data-event]").first().scrollIntoViewIfNeeded();
  await page.locator("#events [data-event]").nth(2).click();
  const at = await position(page);
  await page.click("#go-forward");
  await page.click("#go-forward");
  await page.click("#go-back");
  assert.equal(await position(page), at + 1);
  await page.click("#go-last");
  await page.locator("#published .link").click();
  assert.match(await text(page, "[aria-selected=true] .type"), /^WorkflowTaskStarted$/);
});

inDebugger("every sample opens, and all but the one of other code replay", async (page) => {
  for (const button of await page.locator("[data-sample]").all()) {
    const id = await button.getAttribute("data-sample");
    await button.click();
    await page.waitForFunction((file) => document.querySelector("#session-title + p")?.textContent.includes(file), `${id}.json`);
    const verdict = await text(page, "#verdict");
    if (id === "shopping_cart_diverged") assert.match(verdict, /^diverges at event \d+$/);
    else assert.equal(verdict, "replays", id);
    await page.keyboard.press("End");
    const open = /open$/.test(id);
    assert.equal(await page.locator("#outcome").count(), open || /diverged$/.test(id) ? 0 : 1, id);
    if (open) assert.match(await text(page, "#open"), /takes update add_item/);
  }
});

inDebugger("an edited history shows event, both sides and the line", async (page) => {
  const edited = JSON.parse(sample("shopping_cart"));
  const event = edited.events.find(({ activityTaskScheduledEventAttributes: a }) => a?.activityType.name === "charge");
  event.activityTaskScheduledEventAttributes.activityType.name = "invoice";
  await drop(page, "edited.json", JSON.stringify(edited));
  await opened(page);
  assert.equal(await text(page, "#verdict"), `diverges at event ${event.eventId}`);
  assert.equal(await page.locator("#problem").count(), 0, "nothing is wrong at the start");
  await page.click("#verdict");
  assert.equal(await position(page), Number(event.eventId));
  const problem = await text(page, "#problem");
  assert.match(problem, new RegExp(`event ${event.eventId}`));
  assert.match(await text(page, "#problem .expected"), /invoice/);
  assert.match(await text(page, "#problem .actual"), /charge/);
  const line = /shopping_cart\/workflow\.ts:(\d+)/.exec(problem);
  assert.notEqual(line, null, problem);
  const source = readFileSync(new URL("../../examples/shopping_cart/workflow.ts", import.meta.url), "utf8").split("\n");
  assert.match(source[Number(line[1]) - 1], /shop\.charge/);
  assert.match(await text(page, ".source .bad"), /shop\.charge/);
  await page.keyboard.press("End");
  assert.match(await text(page, "#position"), /the code stopped at/);
  await page.keyboard.press("Home");
  assert.equal(await page.locator("#problem").count(), 0);
});

inDebugger("binary, compressed and chosen files open too; without a network", async (page, _tab, context) => {
  await context.setOffline(true);
  await drop(page, "cart.json.gz", gzipSync(sample("shopping_cart")));
  await opened(page);
  assert.match(await text(page, ".head"), /41 events[\s\S]*it was compressed with gzip/);
  const { readHistoryFile } = await import("../../dist/ts/debug/mod.js");
  const { bytes } = await readHistoryFile(new TextEncoder().encode(sample("inventory")));
  await drop(page, "inventory.bin", bytes);
  await page.waitForFunction(() => document.querySelector("#session-title")?.textContent.startsWith("Inventory"));
  await page.setInputFiles("#file", {
    name: "counter.json",
    mimeType: "application/json",
    buffer: Buffer.from(sample("counter")),
  });
  await page.waitForFunction(() => document.querySelector("#session-title")?.textContent.startsWith("Counter"));
});

inDebugger("what is no history, or of no workflow here, is said in words, and the next file opens", async (page) => {
  const refused = async (name, content, words) => {
    await drop(page, name, content);
    await page.waitForFunction((n) => document.querySelector("#refused strong")?.textContent.startsWith(n), name);
    assert.match(await text(page, "#refused"), words);
    assert.equal(await page.locator("#refused").getAttribute("role"), "alert");
    assert.equal(await page.locator("#session-title").count(), 0);
  };
  await refused("noise.bin", Buffer.from([0, 255, 3, 7, 9, 200, 1]), /cannot be opened[\s\S]*neither JSON nor a history/);
  await refused("cut.json", sample("counter").slice(0, 900), /not valid JSON[\s\S]*cut off/);
  await refused("empty.json", "", /the file is empty/);
  await refused("page.html", "<!doctype html><p>Sign in", /web page/);
  await refused("<img src=x onerror=alert(1)>.json", '{"a":1}', /no "events"/);
  await refused(
    "foreign.json",
    sample("counter").replaceAll("Counter", "Billing"),
    /workflow "Billing"[\s\S]*only the code of[\s\S]*ShoppingCart/,
  );
  const damaged = JSON.parse(sample("shopping_cart"));
  damaged.events.splice(9, 1);
  await refused("gap.json", JSON.stringify(damaged), /events are missing/);
  await drop(page, "counter.json", sample("counter"));
  await opened(page);
  // A value that looks like markup is text.
  const evil = sample("shopping_cart").replaceAll('"BOOK-1"', '"<b id=evil>x</b>"');
  await drop(page, "evil.json", evil);
  await page.waitForFunction(() => document.querySelector("#session-title")?.textContent.startsWith("ShoppingCart"));
  await page.keyboard.press("End");
  assert.equal(await page.locator("#evil").count(), 0);
});

inDebugger("ten thousand events: a step is a frame, and only the rows in sight exist", async (page) => {
  const long = JSON.parse(sample("counter"));
  const signal = long.events.find(({ eventType }) => /SIGNALED/.test(eventType));
  const head = long.events.slice(0, 4);
  const signals = Array.from({ length: 10_000 }, () => structuredClone(signal));
  const all = [...head, ...signals].map((event, i) => ({ ...event, eventId: String(i + 1) }));
  await drop(page, "long.json", JSON.stringify({ events: all }));
  await opened(page);
  assert.match(await text(page, "#position"), /event 1 of 10004/);
  await page.keyboard.press("End");
  assert.equal(await position(page), 10_004);
  assert.ok(await page.locator("#events [data-event]").count() < 120);
  assert.equal(await text(page, "[aria-selected=true] .id"), "10004");
});

inDebugger("names, roles, headings, focus order, contrast: at the start, in a session, at a divergence", async (page) => {
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const width of [1300, 390]) {
      await page.setViewportSize({ width, height: 900 });
      for (const id of ["shopping_cart", "shopping_cart_diverged"]) {
        await page.click(`[data-sample=${id}]`);
        await opened(page);
        await page.waitForFunction(
          (file) => document.querySelector("#session-title + p")?.textContent.includes(file),
          `${id}.json`,
        );
        await page.keyboard.press(id === "shopping_cart" ? "PageDown" : "End");
        await checkBasics(page);
        await checkContrast(page);
      }
    }
  }
  await page.setViewportSize({ width: 1300, height: 900 });
  // The list is one stop of the keyboard, and says where it is.
  assert.equal(await page.evaluate(() => document.activeElement?.id), "events");
  assert.equal(await page.locator("#events").getAttribute("aria-activedescendant"), `event-${await position(page)}`);
  await page.keyboard.press("ArrowLeft");
  assert.match(await page.locator("#said").textContent(), new RegExp(`^event ${await position(page)} of`));
  assert.equal(await page.locator("#said").getAttribute("aria-live"), "polite");
  // In the order of sight: navigation, choosing, samples, steps, slider, events.
  await page.evaluate(() => document.activeElement.blur());
  await page.evaluate(() => scrollTo(0, 0));
  await page.keyboard.press("Home");
  const stops = [];
  await page.locator(".skip").focus();
  for (let i = 0; i < 40 && stops.at(-1) !== "events"; i++) {
    stops.push(
      await page.evaluate(() =>
        document.activeElement.id || document.activeElement.dataset.sample || document.activeElement.className
      ),
    );
    await page.keyboard.press("Tab");
  }
  const order = [
    "skip",
    "nav-shop",
    "nav-debugger",
    "choose",
    "shopping_cart",
    "counter",
    "verdict",
    "go-first",
    "go-last",
    "slider",
    "events",
  ];
  assert.deepEqual(stops.filter((stop) => order.includes(stop)), order);
  // The slider keeps its own arrow keys.
  await page.locator("#slider").focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await position(page), 2);
});

test(
  "the page forbids by meta tag and by header what it does not need, and works where no header is sent",
  { timeout: 300_000 },
  async (t) => {
    const launched = await browser(t);
    if (launched === undefined) return;
    const bare = await site({ headers: false, path: "/" });
    try {
      const { headers } = await fetch(served.url);
      assert.equal(headers.get("content-security-policy"), `${CSP}; frame-ancestors 'none'`);
      for (const part of [/default-src 'none'/, /script-src 'self' 'wasm-unsafe-eval'(;|$)/, /connect-src 'self'(;|$)/]) {
        assert
          .match(CSP, part);
      }
      assert.doesNotMatch(CSP, /'unsafe-(eval|inline)'|blob:|https?:/);
      assert.equal((await fetch(bare.url)).headers.get("content-security-policy"), null);
      const tab = await Watched.open(await launched.newContext(), `${bare.url}#/debugger`);
      assert.equal(await tab.page.locator("meta[http-equiv=Content-Security-Policy]").getAttribute("content"), CSP);
      await tab.page.waitForSelector("#debugger[data-ready]");
      await tab.page.click("[data-sample=counter]");
      await opened(tab.page);
      tab.clean(bare.url);
      // The policy is in force: it refuses what it names.
      const refused = await tab.page.evaluate(async () => {
        // Later: what a driver evaluates is free of the policy while it runs.
        const evaluates = await new Promise((resolve) =>
          setTimeout(() => {
            try {
              resolve(Boolean(Function("return 1")()));
            } catch {
              resolve(false);
            }
          })
        );
        const inline = document.createElement("script");
        inline.textContent = "globalThis.inlined = true";
        document.body.append(inline);
        const away = await fetch("https://example.invalid/").then(() => "sent", () => "refused");
        return { evaluates, inlined: globalThis.inlined === true, away };
      });
      assert.deepEqual(refused, { evaluates: false, inlined: false, away: "refused" });
      // And the tests would see it.
      for (let i = 0; i < 300 && tab.breaches.length < 3; i++) await new Promise((resolve) => setTimeout(resolve, 100));
      assert.deepEqual(tab.breaches.map((breach) => breach.split(" ")[0]).sort(), [
        "connect-src:",
        "script-src-elem:",
        "script-src:",
      ]);
    } finally {
      await bare.close();
      await launched.close();
    }
  },
);

test("the server answers to loopback names, serves the page's folder and nothing else", async () => {
  const { request } = await import("node:http");
  const { port, pathname } = new URL(served.url);
  const ask = (path, headers = {}, method = "GET") =>
    new Promise((resolve, reject) =>
      request({ host: "127.0.0.1", port, path, headers, method }, (res) => {
        res.resume();
        resolve(res.statusCode);
      }).on("error", reject).end()
    );
  assert.equal(await ask(pathname), 200);
  assert.equal(await ask(pathname, { host: "evil.example" }), 403);
  assert.equal(await ask(pathname, {}, "POST"), 405);
  assert.equal(await ask("/"), 404);
  for (
    const path of [
      "../package.json",
      "..%2f..%2fpackage.json",
      "%2e%2e/%2e%2e/package.json",
      "assets/..%5c..%5c..%5cpackage.json",
      "assets",
      "%zz",
    ]
  ) {
    assert.notEqual(await ask(`${pathname}${path}`), 200, path);
  }
});
