// Runs axe-core on the visible page. No script is added to the page: its policy would block it.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, type Page } from "@playwright/test";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/**
 * Problems that axe finds in a part of the page, one line each; empty if it finds no problem.
 * `rules`: only these.
 */
export async function axeFindings(
  page: Page,
  part = "body",
  rules?: readonly string[],
): Promise<string[]> {
  if (await page.evaluate(() => !("axe" in globalThis))) await page.evaluate(source);
  const found = await page.evaluate(async ({ part, rules }) => {
    const { axe } = globalThis as unknown as {
      axe: {
        run(part: string, options: object): Promise<{ violations: Violation[] }>;
      };
    };
    return (await axe.run(part, rules === undefined ? {} : { runOnly: rules })).violations;
  }, { part, rules });
  return found.flatMap(({ id, help, nodes }) =>
    nodes.slice(0, 4).map(({ html }) => `${id}: ${help}: ${html.slice(0, 200)}`)
  );
}

/** The rules whose outcome depends on colors. */
const OF_COLORS = ["color-contrast", "link-in-text-block"];

/** Asserts that axe finds no problem on the page. `where` names the page's state in the failure. */
export async function accessible(page: Page, where: string): Promise<void> {
  expect(await axeFindings(page, "html"), where).toEqual([]);
}

/**
 * The same in both color schemes, of the page or a part of it; what does not depend on colors is
 * looked at in light colors.
 */
export async function accessibleInBoth(page: Page, where: string, part = "html"): Promise<void> {
  await page.emulateMedia({ colorScheme: "light" });
  expect(await axeFindings(page, part), `${where}, light`).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await axeFindings(page, part, OF_COLORS), `${where}, dark`).toEqual([]);
}
