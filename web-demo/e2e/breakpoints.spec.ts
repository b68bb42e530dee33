// Breakpoints survive a reload; no data of the run is stored with them.
import {
  addBreakpoint,
  breakpoints,
  restoreBreakpoints,
  switchBreakpoint,
  toggleLine,
} from "../src/code/breakpoints.ts";
import { keepBreakpoints } from "../src/code/kept_breakpoints.ts";
import { expect, test } from "./support/story.ts";

const KEY = "temporalex.breakpoints";
const storageOf = (kept = new Map<string, string>()) => ({
  kept,
  getItem: (key: string) => kept.get(key) ?? null,
  setItem: (key: string, value: string) => void kept.set(key, value),
});
const told = () =>
  breakpoints.value.map(({ kind, path, line, text, isOn }) => [kind, path, line, text, isOn]);

test("stored breakpoints are restored with their enabled state and can be removed", () => {
  restoreBreakpoints([]);
  const storage = storageOf();
  const end = keepBreakpoints(() => storage);
  toggleLine("src/cart.ts", 60);
  addBreakpoint("when", "state.items.length > 3");
  switchBreakpoint(breakpoints.value[0]!.id);
  const wanted = [["line", "src/cart.ts", 60, "", false], [
    "when",
    "",
    0,
    "state.items.length > 3",
    true,
  ]];
  expect(told()).toEqual(wanted);
  end();
  restoreBreakpoints([]);
  const endAgain = keepBreakpoints(() => storage);
  expect(told()).toEqual(wanted);
  toggleLine("src/cart.ts", 60);
  expect(told()).toEqual(wanted.slice(1));
  endAgain();
});

test("invalid stored breakpoints are ignored, and the page works without storage", () => {
  const good = { kind: "event", path: "", line: 0, text: "TimerFired", isOn: true };
  const bad = [null, 7, { ...good, kind: "other" }, { ...good, line: "1" }, { ...good, isOn: 1 }];
  for (const kept of [JSON.stringify([...bad, good]), "{", "{}", "null"]) {
    restoreBreakpoints([]);
    keepBreakpoints(() => storageOf(new Map([[KEY, kept]])))();
    expect(told()).toEqual(
      kept.includes("TimerFired") ? [["event", "", 0, "TimerFired", true]] : [],
    );
  }
  restoreBreakpoints([]);
  keepBreakpoints(() => {
    throw new DOMException("no storage", "SecurityError");
  });
  addBreakpoint("command", "StartTimer");
  expect(told()).toEqual([["command", "", 0, "StartTimer", true]]);
});

test("a reload restores the breakpoint of a line", async ({ app }) => {
  const { page } = app;
  await app.sample("shopping_cart", 19);
  const button = page.locator("#breakpoints");
  await page.locator('[data-breakpoint="60"]').click();
  await expect(button).toHaveAccessibleName("Breakpoints: 1");
  await page.reload();
  await app.replayed("sample:shopping_cart");
  await expect(button).toHaveAccessibleName("Breakpoints: 1");
  expect(await page.evaluate((key) => sessionStorage.getItem(key), KEY)).not.toContain("PEN-2");
});
