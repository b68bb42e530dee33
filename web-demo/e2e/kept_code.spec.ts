// Code survives a reload, and a link carries the position and, on request, the code.
import { openFolder, ownProgram, permit } from "./support/programs.ts";
import { type App, expect, test } from "./support/story.ts";

async function opened(app: App): Promise<void> {
  const { history, code } = ownProgram();
  await app.start();
  await app.drop([{ name: "tally.json", content: history }]);
  await expect(app.page.locator("h1")).toHaveText("Tally");
  const remove = await openFolder(app, { "src/workflow.ts": code });
  await permit(app);
  await app.replayed();
  remove();
}

const toStore = (app: App, holds: string): Promise<void> =>
  expect.poll(() =>
    app.page.evaluate(() =>
      new Promise<string>((resolve) => {
        const asked = indexedDB.open("temporalex-debugger");
        asked.onsuccess = () => {
          const all = asked.result.transaction("code").objectStore("code").getAll();
          all.onsuccess = () => {
            asked.result.close();
            resolve(JSON.stringify(all.result));
          };
        };
      })
    )
  ).toContain(holds);

test("permitted code and its edits survive a reload and are replayed", async ({ app }) => {
  const { page } = app;
  await opened(app);
  await page.locator("#edit").click();
  await expect(page.locator(".cm-content")).toBeFocused();
  await page.keyboard.press("Control+Home");
  await page.keyboard.insertText("// kept over a reload\n");
  await toStore(app, "kept over a reload");
  await page.reload();
  await app.replayed();
  await expect(page.locator(".code-line", { hasText: "kept over a reload" })).toBeVisible();
});

test("code that was not permitted is asked about again after a reload", async ({ app }) => {
  const { page } = app;
  const { history, code } = ownProgram();
  await app.start();
  await app.drop([{ name: "tally.json", content: history }]);
  const remove = await openFolder(app, { "src/workflow.ts": code });
  remove();
  await toStore(app, "tally");
  await page.reload();
  await expect(page.locator("#permission")).toContainText("This code has not run yet");
  await permit(app);
  await app.replayed();
});

test("a link carries the position, and the code if that is chosen; the code asks before it runs", async ({ app, browser }) => {
  const { page } = app;
  await opened(app);
  await page.keyboard.press("g");
  await page.keyboard.type("6");
  await page.keyboard.press("Enter");
  await app.isAt(6);
  const link = async () => {
    await page.locator("#link-as-is").click();
    return await page.locator("#link").inputValue();
  };
  await page.locator("#share").click();
  const plain = await link();
  await page.locator("#link-code").check();
  await expect(page.locator("#link")).toHaveCount(0);
  const whole = await link();
  expect(plain).toMatch(/#zip=[\w-]+&e=6$/);
  expect(whole).toMatch(/#zip=[\w-]+&e=6&code=[\w-]+$/);
  for (const address of [plain, whole]) {
    const context = await browser.newContext();
    const other = await context.newPage();
    await other.goto(address);
    await expect(other.locator("#position")).toHaveText(/^Event 6 of/);
    if (address === whole) {
      await expect(other.locator("#permission")).toContainText("from a link that you followed");
      await other.getByRole("button", { name: "Show what will run" }).click();
      await other.getByRole("button", { name: "Run code" }).click();
      await expect(other.locator("#verdict")).toHaveText(/Replays/);
    } else await expect(other.locator("#open-code")).toBeVisible();
    await context.close();
  }
});
