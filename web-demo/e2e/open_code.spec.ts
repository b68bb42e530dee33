// Ways to add code to a history: drop, folder, paste. The page shows the code and runs it after a
// click.
import { type App, expect, test } from "./support/story.ts";
import { openFolder, ownProgram, permit } from "./support/programs.ts";

const { history, code } = ownProgram();

async function openHistory(app: App): Promise<void> {
  await app.start();
  await app.drop([{ name: "tally.json", content: history }]);
  await expect(app.page.locator("#verdict")).toHaveText(/No code/);
}

test("dropped code is shown first and runs after a click, and edits update its verdict", async ({ app }) => {
  await openHistory(app);
  const before = app.page.frames().length;
  await app.drop([{ name: "tally.ts", content: code }]);
  await expect(app.page.locator("#verdict")).toHaveText(/Not run yet/);
  await app.page.getByRole("button", { name: "Show what will run" }).click();
  const dialog = app.page.locator("#permit");
  await expect(dialog).toContainText("tally.ts");
  await expect(dialog).toContainText("export const tally");
  expect(app.page.frames().length).toBeLessThanOrEqual(before); // no frame exists yet in which the code could have run
  await app.page.getByRole("button", { name: "Run code" }).click();
  await expect(app.page.locator("#verdict")).toHaveText(/Replays/);
});

test("code that is dropped while a history loads is used for that history", async ({ app }) => {
  const { page } = app;
  await page.addInitScript(() => {
    const read = File.prototype.arrayBuffer;
    File.prototype.arrayBuffer = async function () {
      await new Promise((resolve) => setTimeout(resolve, 500));
      return await read.call(this);
    };
  });
  await app.start();
  await app.drop([{ name: "tally.json", content: history }]);
  await app.drop([{ name: "tally.ts", content: code }]);
  await permit(app);
  await expect(page.locator("#verdict")).toHaveText(/Replays/);
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Tally");
});

test("a folder is searched for the workflow, and only the files that it needs are read", async ({ app }) => {
  await openHistory(app);
  const remove = await openFolder(app, {
    "src/tally.ts": code.replace(
      '"temporalex/workflow";',
      '"temporalex/workflow";\nimport { one } from "steps";',
    ).replace(
      "receive(0,",
      "receive(one - 1,",
    ),
    "src/other.ts": "export const tallies = 1;",
    "src/activities.ts": "export async function Tally(): Promise<void> {}",
    "node_modules/steps/package.json": '{ "name": "steps", "exports": { ".": "./lib/index.js" } }',
    "node_modules/steps/lib/index.js":
      "import { two } from './two.js'; export const one = two - 1;",
    "node_modules/steps/lib/two.js": "export const two = 2;",
    "node_modules/unused/package.json": "{",
    "node_modules/unused/index.js": "throw new Error()",
  });
  remove();
  await app.page.getByRole("button", { name: "Show what will run" }).click();
  const dialog = app.page.locator("#permit");
  await expect(dialog).toContainText("src/tally.ts");
  await expect(dialog).toContainText("package steps 3 files");
  await expect(dialog).not.toContainText("unused");
  await expect(dialog).not.toContainText("activities.ts");
  await app.page.getByRole("button", { name: "Run code" }).click();
  await expect(app.page.locator("#verdict")).toHaveText(/Replays/);
});

test("the code of another folder replaces the open code", async ({ app }) => {
  await openHistory(app);
  const remove = await openFolder(app, { "src/tally.ts": code });
  remove();
  await permit(app);
  await expect(app.page.locator("#verdict")).toHaveText(/Replays/);
  const other = code.replace("receive,", "receive, upsertMemo,").replace(
    "publishState(0);",
    "publishState(0);\n    upsertMemo({ at: 1 });",
  );
  const removeOther = await openFolder(app, { "src/tally.ts": other });
  removeOther();
  await permit(app);
  await expect(app.page.locator("#verdict")).toHaveText(/Diverges/);
  // Both are versions of the code with the verdict of their replay; choosing the first one goes
  // back.
  const versions = app.page.locator("#versions");
  await expect(versions.locator("option")).toHaveText([
    "version 1 replays",
    /^version 2 diverges at event \d+$/,
  ]);
  await versions.selectOption({ index: 0 });
  await expect(app.page.locator("#verdict")).toHaveText(/Replays/);
  await expect(versions.locator("option")).toHaveText([
    "version 1 replays",
    /^version 2 diverges at event \d+$/,
  ]);
});

test("a missing import is reported with advice, and dropping the missing file fixes it", async ({ app }) => {
  await openHistory(app);
  await app.drop([{
    name: "tally.ts",
    content: `import { one } from "./one.ts";\n${code}\nconsole.log(one);`,
  }]);
  await permit(app);
  await expect(app.page.locator("#verdict")).toHaveAttribute(
    "title",
    /tally\.ts:1: imports "\.\/one\.ts".*Drop that file as well/,
  );
  await app.drop([{ name: "one.ts", content: "export const one: number = 1;" }]);
  await permit(app);
  await expect(app.page.locator("#verdict")).toHaveText(/Replays/);
});

test("pasted code runs after a click", async ({ app }) => {
  await openHistory(app);
  await app.page.evaluate((text) => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    document.body.dispatchEvent(
      new ClipboardEvent("paste", { clipboardData: data, bubbles: true }),
    );
  }, code);
  await permit(app);
  await expect(app.page.locator("#verdict")).toHaveText(/Replays/);
});

test("if two files define the workflow, the page asks which one to use", async ({ app }) => {
  await openHistory(app);
  await app.drop([{ name: "tally.ts", content: code }, {
    name: "old_tally.ts",
    content: code.replace("count + 1", "count - 1"),
  }]);
  await app.page.getByRole("button", { name: "tally.ts", exact: true }).click();
  await permit(app);
  await expect(app.page.locator("#verdict")).toHaveText(/Replays/);
});

test("code without the workflow is rejected with the workflow's name", async ({ app }) => {
  await openHistory(app);
  await app.drop([{ name: "a.ts", content: "export const a = 1;" }, {
    name: "b.ts",
    content: "export const b = 1;",
  }]);
  await expect(app.page.locator(".notices")).toContainText('has no workflow "Tally"');
});

test("a syntax error is reported with its file and line", async ({ app }) => {
  await openHistory(app);
  await app.drop([{ name: "tally.ts", content: `${code}\nconst = 1;` }]);
  await permit(app);
  await expect(app.page.locator("#verdict")).toHaveText(
    new RegExp(`Not parsed, line ${code.split("\n").length + 1}`),
  );
});
