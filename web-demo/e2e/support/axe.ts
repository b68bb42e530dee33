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

/** Problems that axe finds in a part of the page, one line each; empty if it finds no problem. */
export async function axeFindings(page: Page, part = "body"): Promise<string[]> {
  await page.evaluate(source);
  const found = await page.evaluate(async (part) => {
    const { axe } = globalThis as unknown as {
      axe: { run(part: string): Promise<{ violations: Violation[] }> };
    };
    return (await axe.run(part)).violations;
  }, part);
  return found.flatMap(({ id, help, nodes }) =>
    nodes.slice(0, 4).map(({ html }) => `${id}: ${help}: ${html.slice(0, 200)}`)
  );
}

/** Asserts that axe finds no problem on the page. `where` names the page's state in the failure. */
export async function accessible(page: Page, where: string): Promise<void> {
  expect(await axeFindings(page, "html"), where).toEqual([]);
}
