// Situations of a new user: names that do not match, keys after a dialog, code with errors, narrow
// screens, long names.
import { exported, lineOf, nextDeploy, project } from "./support/orders.ts";
import { openFolder, permit } from "./support/programs.ts";
import { type App, expect, test } from "./support/story.ts";

const WORKFLOWS = "src/workflows.ts";

async function dropped(app: App, how: "waiting" | "completed" | "misspelt"): Promise<void> {
  await app.start();
  await app.drop([{ name: "order-17.json", content: await exported(how) }]);
  await expect(app.page.locator("h1")).toHaveText("processOrder");
}

async function withCode(
  app: App,
  how: "waiting" | "completed" | "misspelt",
  files = project,
): Promise<void> {
  await dropped(app, how);
  const remove = await openFolder(app, files);
  await permit(app);
  await app.replayed();
  remove();
}

test("for a run that waits because its signal had another name, the page names the signal and links to its event", async ({ app }) => {
  await withCode(app, "misspelt");
  const untaken = app.page.locator("#why .untaken");
  await expect(untaken).toHaveText(
    /^Signal approved was received \(event \d+\), but nothing accepts it at this point of the code\.$/,
  );
  await expect(app.page.locator("#why")).toContainText("A change that makes its condition true");
  const event = Number(/\d+/.exec(await untaken.getByRole("button").innerText())![0]);
  await untaken.getByRole("button").click();
  await app.isAt(event);
});

test("the key k moves up to the first row, also past overlapped items", async ({ app }) => {
  const { page } = app;
  await dropped(app, "completed");
  // A closed run without code opens at its end.
  const rows = await page.locator("#events [data-row]").count();
  for (let i = 0; i < rows; i++) await page.keyboard.press("k");
  await app.isAt(1);
});

test("shortcuts act on the run again after a dialog, and a dialog does not show the status of another dialog", async ({ app }) => {
  const { page } = app;
  await withCode(app, "completed");
  await page.locator("#share").click();
  const saved = page.waitForEvent("download");
  await page.locator("#save-redacted").click();
  await saved;
  await expect(page.locator("#share-dialog [role=status]").first()).toContainText(
    "The result replays as before",
  );
  await page.keyboard.press("Escape");
  const last = Number(/of (\d+)/.exec(await page.locator("#position").innerText())![1]);
  await page.keyboard.press("ArrowLeft");
  await app.isAt(last - 1);
  await page.keyboard.press("?");
  await expect(page.locator("dialog[open]")).toContainText("Keys");
  await page.keyboard.press("Escape");
  await page.locator("#make-test").click();
  await expect(page.locator("#test-dialog [role=status]")).toHaveText("");
  await expect(page.locator("#test-dialog")).not.toContainText("cut after the divergence");
});

test("an error in the code names file and line, and the line is visible and red", async ({ app }) => {
  const { page } = app;
  const wrong: readonly (readonly [from: string, to: string, says: RegExp])[] = [
    ["let approvedBy: string | undefined;", "let approvedBy: = ;", /line \d+:.*[Ss]yntax error/s],
    [
      "export const approve = ",
      "export const broken = (undefined as any).name;\nexport const approve = ",
      /Fails while it is loaded: TypeError/,
    ],
  ];
  for (const [from, to, says] of wrong) {
    await dropped(app, "completed");
    const files = { ...project, [WORKFLOWS]: project[WORKFLOWS]!.replace(from, to) };
    const remove = await openFolder(app, files);
    await permit(app);
    await expect(page.locator("#why")).toContainText(says);
    await expect(page.locator("#why")).toContainText(new RegExp(`${WORKFLOWS}, line \\d+: [A-Z]`));
    const line = String(lineOf(files, to.split("\n")[0]!));
    await expect(page.locator(".code-line.red")).toHaveAttribute("data-line", line);
    await expect(page.locator(".code-line.red")).toBeInViewport();
    await expect(page.locator("#why")).not.toContainText(/\.ts:\d+:\d/);
    remove();
  }
});

test("the chip of a long line does not cover the call that it belongs to", async ({ app }) => {
  const { page } = app;
  await page.setViewportSize({ width: 1280, height: 800 });
  const files = {
    ...nextDeploy,
    [WORKFLOWS]: nextDeploy[WORKFLOWS]!.replace(
      "await screen(",
      "if (order.items.length > 0 && order.customer.length > 1) await screen(",
    ),
  };
  await withCode(app, "completed", files);
  const red = page.locator(".code-line.red");
  await expect(red).toHaveAttribute("data-line", String(lineOf(files, "await screen(")));
  const [end, chip] = await red.evaluate((row) => {
    const walker = document.createTreeWalker(row.querySelector(".source")!, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode as Text;
      const at = text.data.indexOf("screen");
      if (at < 0) continue;
      const range = document.createRange();
      range.setStart(text, at);
      range.setEnd(text, at + "screen".length);
      return [
        range.getBoundingClientRect().right,
        row.querySelector(".parked-chip")!.getBoundingClientRect().left,
      ];
    }
    throw new Error("the line does not call it");
  });
  expect(chip).toBeGreaterThan(end);
  await expect(red.locator(".parked-chip")).toHaveAttribute(
    "title",
    /history has activity reserve here event 5/,
  );
});

test("the next input has the focus: the form of a change, or a result that history does not contain", async ({ app }) => {
  const { page } = app;
  await withCode(app, "completed");
  await page.locator("[role=row]", { hasText: /^pay/ }).click();
  await page.locator("#change-this").focus();
  await page.keyboard.press("Enter");
  await expect(page.locator('.change-form [name="text"]')).toBeFocused();
  await page.locator("#run-branch").focus();
  await page.keyboard.press("Enter");
  await expect(page.locator('form.asked [name="answer"]')).toBeFocused();
});

test("a long name is truncated to the available width, in the table and in the title", async ({ app }) => {
  const { page } = app;
  const long = "reserveAllOfTheItemsThatTheCustomerHasPutIntoTheBasket".repeat(3);
  await app.start();
  await app.drop([{
    name: "long.json",
    content: (await exported("completed")).replaceAll('"reserve"', `"${long}"`),
  }]);
  const name = page.locator(".summary .thing-link", { hasText: long });
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    const seen = await name.evaluate((link) => {
      const [own, cell] = [
        link.getBoundingClientRect(),
        link.closest("td")!.getBoundingClientRect(),
      ];
      return Math.min(own.right, cell.right) - own.left;
    });
    expect(seen, `at ${width} px`).toBeGreaterThan(50);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  }
});

test("at 320 px the controls of the run fit in one line, and those of the code are visible", async ({ app }) => {
  const { page } = app;
  await page.setViewportSize({ width: 320, height: 640 });
  await withCode(app, "completed");
  const tops = await page.locator(".top .actions > *:visible").evaluateAll((all) =>
    all.map((each) => {
      const { top, height } = each.getBoundingClientRect();
      return Math.round(top + height / 2);
    })
  );
  expect(new Set(tops).size, tops.join()).toBe(1);
  const right = await page.locator("#edit").evaluate((each) => each.getBoundingClientRect().right);
  expect(right).toBeLessThanOrEqual(320);
  // After a click on What if, the form of a change has the focus.
  await page.locator("#what-if").click();
  await expect(page.locator(".change-form")).toBeVisible();
});

test("messages about the wrong code disappear when the right code is opened", async ({ app }) => {
  const { page } = app;
  await dropped(app, "completed");
  await app.drop([
    {
      name: "a.ts",
      content:
        'import { workflow } from "temporalex/workflow";\nexport const a = workflow("A", () => Promise.resolve(1));\n',
    },
    {
      name: "b.ts",
      content:
        'import { workflow } from "temporalex/workflow";\nexport const b = workflow("B", () => Promise.resolve(2));\n',
    },
  ]);
  await expect(page.locator(".notice")).toContainText('no workflow "processOrder"');
  const remove = await openFolder(app, project);
  await expect(page.locator(".notice")).toHaveCount(0);
  remove();
});

test("names in the timeline do not exceed its width, also at 320 px", async ({ app }) => {
  const { page } = app;
  await page.setViewportSize({ width: 320, height: 640 });
  await app.start();
  for (const how of ["waiting", "misspelt", "completed"] as const) {
    const history = JSON.parse(await exported(how));
    // In a fresh recording all events may be within one millisecond; then no bar has room for a
    // name.
    for (const [i, event] of history.events.entries()) {
      event.eventTime = new Date(Date.UTC(2026, 0, 1) + i * 400).toISOString();
    }
    await app.drop([{ name: `${how}.json`, content: JSON.stringify(history) }]);
    await expect(page.locator("#position")).toHaveText(new RegExp(`of ${history.events.length}$`));
    await page.waitForFunction(() => document.querySelectorAll(".tl-svg text.tl-name").length > 0);
    const cut = await page.locator(".tl-svg text.tl-name").evaluateAll((all) =>
      all.filter((text) =>
        text.getBoundingClientRect().left < 320 && text.getBoundingClientRect().right > 320
      ).map((text) => text.textContent)
    );
    expect(cut, how).toEqual([]);
  }
});

test("at 1280 px the list of versions shows the open version and its replay verdict", async ({ app }) => {
  const { page } = app;
  await page.setViewportSize({ width: 1280, height: 800 });
  await withCode(app, "completed", nextDeploy);
  const remove = await openFolder(app, project);
  await permit(app);
  await expect(page.locator("#verdict")).toHaveText(/Replays to the end/);
  const width = await page.locator("#versions").evaluate((each) =>
    each.getBoundingClientRect().width
  );
  expect(width).toBeGreaterThan(130);
  remove();
});
