// Workflows with database tables in the debugger: each construct is shown with its name, line and
// values.
import { exported, lineOf, project } from "./support/raid.ts";
import { openFolder, permit } from "./support/programs.ts";
import { type App, expect, test } from "./support/story.ts";

/**
 * Drops a history, chooses the folder of its project and views the code before it runs. All rows
 * and lines are visible.
 */
async function opened(app: App, which: "raid" | "watch"): Promise<void> {
  const history = (await exported())[which];
  await app.page.setViewportSize({ width: 1440, height: 2200 });
  await app.start();
  await app.drop([{ name: `${which}.json`, content: history }]);
  const remove = await openFolder(app, project);
  await permit(app);
  await app.replayed();
  await expect(app.page.locator("#verdict")).toHaveText(/Replays to the end/);
  remove();
}

/** One construct: the text of its row, its line, and the text of the line at the end of the run. */
interface Shown {
  readonly construct: string;
  readonly row: string | RegExp;
  readonly at: string;
  readonly says: string | RegExp;
  /** The text of the line while the code waits there, and the text of that row. */
  readonly waits?: string;
}

const RAID: readonly Shown[] = [
  {
    construct: "transact, not awaited",
    row: 'transact logLine"a raid on 7"',
    at: "transact(logLine",
    says: "a raid on 7",
  },
  {
    construct: "transact, awaited",
    row: /^transact strike7, 30 → \{"hp":70\}/,
    at: "await transact(strike, npc",
    says: "70",
    waits: "transact strike",
  },
  {
    construct: "transact whose reducer throws",
    row: "transact strike99, 30 npc 99 not found",
    at: "await transact(strike, 99",
    says: "npc 99 not found",
  },
  {
    construct: "transact.required",
    row: /^transact seal7 → "sealed"/,
    at: "transact.required(seal",
    says: "sealed",
  },
  {
    construct: "procedure",
    row: "procedure compute_damage7, 12 → 30",
    at: "await procedure(",
    says: "30",
    waits: "procedure compute_damage",
  },
  {
    construct: "subscribe",
    row: /^subscribe threat_detected:orc/,
    at: "  subscribe(",
    says: "threat_detected:orc",
  },
  {
    construct: "unsubscribe",
    row: /^unsubscribe threat_detected:orc/,
    at: "  unsubscribe(",
    says: /threat_detected:orc|sealed/,
  },
  { construct: "broadcast", row: "broadcast→ 0", at: "await broadcast(", says: "0" },
  {
    construct: "named timer",
    row: "timer muster1 min 30 s",
    at: "timer(raidTimers.muster",
    says: `muster: "1 min 30 s"`,
    waits: "timer muster",
  },
  {
    construct: "named timer of a select",
    row: "timer night_fall8 h canceled",
    at: "await select([",
    says: "orc, 12",
    waits: "select (timer night_fall, signal threat_detected)",
  },
  {
    construct: "signal by its typed name",
    row: "threat_detectedorc, 12",
    at: "await select([",
    says: "orc, 12",
  },
  {
    construct: "spawn",
    row: 'Scout"the gate" → "the gate is quiet"',
    at: "await spawn(scout",
    says: "the gate is quiet",
    waits: "child workflow Scout",
  },
  {
    construct: "startChild",
    row: 'Scout"the well" → "the well is quiet"',
    at: "await second.result()",
    says: "the well is quiet",
  },
  {
    construct: "published state",
    row: "completes",
    at: 'publishState({ stage: "fights"',
    says: "state: fights, 70",
  },
];

const WATCH: readonly Shown[] = [
  {
    construct: "carry: the run continues as new",
    row: 'continues as new["gate","well"], 1, 1',
    at: "alarms: state.alarms + 1",
    says: /gate.*well.*1/,
  },
  {
    construct: "carry: the next round of the same run",
    row: "timer arrival5 s",
    at: "% route.length",
    says: "state: 1, 0",
  },
];

async function holds(app: App, rows: readonly Shown[]): Promise<void> {
  const { page } = app;
  const row = (text: string | RegExp) => page.locator(".event-row", { hasText: text });
  for (const { construct, row: text, at } of rows) {
    await expect(row(text).first(), `${construct}: its row`).toBeVisible();
    expect(lineOf(at), `${construct}: its line in the fixture`).toBeGreaterThan(0);
  }
  const end = row(/^complete|^continues/);
  await end.click();
  for (const { construct, at, says } of rows) {
    const line = page.locator(`.code-line[data-line="${lineOf(at)}"]`);
    await expect(line.locator(".note"), `${construct}: the value at its line`).toContainText(says);
  }
  for (const { construct, row: text, at, waits } of rows) {
    if (waits === undefined) continue;
    // The code waits there after the row's first event.
    await row(text).first().click();
    const line = page.locator(`.code-line.at[data-line="${lineOf(at)}"]`);
    await expect(line, `${construct}: the code waits there`).toBeVisible();
    await expect(line.locator(".parked-chip"), `${construct}: what it waits for`).toContainText(
      waits,
    );
  }
}

test("a raid shows reducers, procedure, subscriptions, broadcast, named timers, children and state with name, line and value", async ({ app }) => {
  await opened(app, "raid");
  await holds(app, RAID);
  // The published state and the phase of the run, as SQL shows them.
  await app.page.locator(".event-row", { hasText: /^completes/ }).click();
  await expect(app.page.locator("#state")).toContainText("fights");
  await expect(app.page.locator("#state .phase")).toContainText(
    /Awaits passed before this state: \d+/,
  );
});

test("a watch in rounds shows the values that it passes to the next round and to the next run", async ({ app }) => {
  await opened(app, "watch");
  await holds(app, WATCH);
});

test("what-if with reducers: a changed result, and a result that the page asks for because the arguments changed", async ({ app }) => {
  const { page } = app;
  await opened(app, "raid");
  const form = page.locator(".change-form");
  await page.locator(".event-row", { hasText: /^transact strike7, 30/ }).click();
  await page.locator("#change-this").click();
  await expect(form.locator('[name="thing"] option:checked')).toHaveText(/transact strike/);
  await form.locator('[name="how"]').selectOption("returns");
  await form.locator('[name="text"]').fill('{ "hp": 5 }');
  await page.locator("#run-branch").click();
  await expect(page.locator("#end-of-b")).toContainText("completed", { timeout: 60_000 });
  await expect(page.locator(".both-steps .differs").first()).toContainText("strike");

  await page.locator(".branch", { hasText: "Recorded" }).click();
  const things = form.locator('[name="thing"]');
  const procedure = things.locator("option").filter({ hasText: /compute_damage/ }).first();
  await things.selectOption((await procedure.getAttribute("value"))!);
  await form.locator('[name="how"]').selectOption("returns");
  await form.locator('[name="text"]').fill("40");
  await page.locator("#run-branch").click();
  const question = page.locator("form.asked");
  await expect(question).toContainText(
    "transact strike has no recorded result. It was called with [ 7, 40 ]",
    {
      timeout: 60_000,
    },
  );
  await question.locator('[name="answer"]').fill('{ "hp": 60 }');
  await question.getByRole("button", { name: "Use this result" }).click();
  await expect(question).toContainText("It was called with [ 99, 40 ]");
  await question.getByRole("button", { name: "Use this result" }).click();
  await expect(page.locator("#end-of-b")).toContainText("completed", { timeout: 60_000 });
});
