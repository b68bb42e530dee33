// Encoded values: the page sends them to the endpoint that the user entered, after a click, and
// never to another origin.
import { expect as commandExpect, test as commandTest } from "./support/command.ts";
import { codecServer, encryptedRun } from "./support/encrypted.ts";
import { expect, test } from "./support/story.ts";

test("after a click, the user's endpoint decodes the values; address and files do not contain them", async ({ app, watch }) => {
  const { page } = app;
  const server = await codecServer("right");
  try {
    await app.start();
    await app.drop([{ name: "vault.json", content: encryptedRun("right") }]);
    await expect(page.locator("h1")).toHaveText("Vault");
    await page.locator("#decode").click();
    const dialog = page.locator("#codec-dialog");
    await expect(dialog).toContainText("2 × binary/encrypted");
    await dialog.locator("[name=endpoint]").fill(server.url);
    await dialog.locator("[name=authorization]").fill("Bearer mine");
    // The endpoint is entered, but no request was sent yet.
    expect(server.asked).toEqual([]);
    expect(
      watch.requests.filter((asked) =>
        asked.startsWith(server.url) || asked.includes("codec.html")
      ),
    ).toEqual([]);
    await dialog.locator("#decode-by-endpoint").click();
    await expect(dialog.locator("#codec-said")).toHaveText("2 values decoded.");
    await dialog.getByRole("button", { name: "Close" }).click();
    await expect(page.locator(".of-events")).toContainText("the left one");
    await page.locator("#go-start").click();
    await expect(page.locator("#thing")).toContainText("the combination is 4711");
    // Payloads without encoding are not sent; the header is sent.
    expect(server.asked.map(({ payloads }) => payloads.length)).toEqual([2]);
    expect(server.asked[0]!.headers.authorization).toBe("Bearer mine");
    await expect(page.locator("iframe[title='Codec endpoint']")).toHaveCount(0);
    expect(decodeURIComponent(page.url())).not.toMatch(/4711|left one|127\.0\.0\.1:\d+\/decode/);
    const saved = async () => {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.locator("#save-as-is").click(),
      ]);
      const parts: Buffer[] = [];
      for await (const part of await download.createReadStream()) parts.push(part as Buffer);
      return Buffer.concat(parts).toString();
    };
    await page.locator("#share").click();
    expect(await saved()).not.toContain(btoa('{"door":"the left one"}'));
    await page.locator("#share-dialog [name=decoded]").check();
    expect(await saved()).toContain(btoa('{"door":"the left one"}'));
    await page.keyboard.press("Escape");
    // Decoded values exist only in this tab's memory.
    await page.reload();
    await expect(page.locator("#decode")).toHaveText("Decode");
    await expect(page.locator("body")).not.toContainText("4711");
    expect(server.asked.length).toBe(1);
  } finally {
    server.close();
  }
  const asked = watch.taken();
  expect(asked.length).toBeGreaterThan(0);
  for (const one of asked) expect(one).toBe(`request: ${server.url}/decode`);
});

test("a wrong key, an unreachable server and an invalid address are reported at the field", async ({ app, watch }) => {
  const { page } = app;
  const server = await codecServer("wrong");
  const other = await codecServer("right");
  other.close();
  await app.start();
  await app.drop([{ name: "vault.json", content: encryptedRun("right") }]);
  await page.locator("#decode").click();
  const said = page.locator("#codec-said");
  const ask = async (address: string) => {
    await page.locator("#codec-dialog [name=endpoint]").fill(address);
    await page.locator("#decode-by-endpoint").click();
  };
  try {
    await ask("codec.example");
    await expect(said).toContainText('"codec.example" is not an address');
    await ask(server.url);
    await expect(said).toContainText("the endpoint responded 400: the key does not fit");
    await ask(`${server.url}/empty`);
    await expect(said).toContainText(
      "payloads[0] in the response of the endpoint has neither metadata nor data",
    );
    await ask(other.url);
    await expect(said).toContainText(`${other.url}/decode was not reached`);
    await expect(page.locator("#decode")).toHaveText("Decode");
  } finally {
    server.close();
  }
  const allowed = new RegExp(
    `^request: (?:${server.url}(?:/empty)?|${other.url})/decode$|^console: Failed to load resource`,
  );
  for (const one of watch.taken()) expect(one).toMatch(allowed);
});

test("the frame can connect to its endpoint only; the page itself cannot connect to it", async ({ app, watch }) => {
  const { page } = app;
  const named = await codecServer("right");
  const other = await codecServer("right");
  try {
    await app.start();
    const results = await page.evaluate(async ([endpoint, elsewhere]) => {
      const frame = document.createElement("iframe");
      frame.src = new URL("codec.html", document.baseURI).href;
      const loaded = new Promise((resolve) => frame.onload = resolve);
      document.body.append(frame);
      await loaded;
      const { port1, port2 } = new MessageChannel();
      const here = new Promise((resolve) => port1.onmessage = resolve);
      frame.contentWindow!.postMessage({ endpoint, headers: {} }, location.origin, [port2]);
      await here;
      const inner = frame.contentWindow as Window & { fetch: typeof fetch };
      const refused = (work: Promise<Response>) => work.then(() => "sent", () => "refused");
      const body = JSON.stringify({ payloads: [] });
      return {
        elsewhere: await refused(inner.fetch(elsewhere!, { method: "POST", body })),
        otherPath: await refused(
          inner.fetch(new URL("/encode", endpoint), { method: "POST", body }),
        ),
        page: await refused(fetch(endpoint!, { method: "POST", body })),
        named: await refused(inner.fetch(endpoint!, { method: "POST", body })),
      };
    }, [`${named.url}/decode`, `${other.url}/decode`]);
    expect(results).toEqual({
      elsewhere: "refused",
      otherPath: "refused",
      page: "refused",
      named: "sent",
    });
    expect([named.asked.length, other.asked.length]).toEqual([1, 0]);
  } finally {
    named.close();
    other.close();
  }
  watch.taken();
});

commandTest(
  "temporalex debug forwards values to the endpoint from its command line",
  async ({ place, visit }) => {
    const server = await codecServer("right");
    try {
      place.write("vault.json", encryptedRun("right"));
      const args = [
        "debug",
        "vault.json",
        "--no-open",
        "--json",
        "--codec-endpoint",
        server.url,
        "--codec-header",
        "x-key: mine",
      ];
      const command = place.start(args);
      const { url } = await command.line(({ event }) => event === "started");
      const { page, watch } = await visit(url);
      await page.locator("#decode").click();
      await commandExpect(page.locator("#codec-dialog")).toContainText(`${server.url}/decode`);
      commandExpect(server.asked).toEqual([]);
      await page.locator("#decode-by-endpoint").click();
      await commandExpect(page.locator("#codec-said")).toHaveText("2 values decoded.");
      commandExpect(server.asked[0]!.headers["x-key"]).toBe("mine");
      await page.keyboard.press("Escape");
      await commandExpect(page.locator(".of-events")).toContainText("the left one");
      server.close();
      await page.reload();
      await page.locator("#decode").click();
      await page.locator("#decode-by-endpoint").click();
      await commandExpect(page.locator("#codec-said")).toHaveText(
        new RegExp(`^${server.url}/decode was not reached: `),
      );
      for (const one of watch.taken()) {
        commandExpect(one).toMatch(
          /^console: Failed to load resource: .*502/,
        );
      }
    } finally {
      server.close();
    }
  },
);
