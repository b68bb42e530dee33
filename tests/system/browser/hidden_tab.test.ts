// runtime: node
// browser: installed
// takes: 4 s
// A leading tab that is hidden. The browser of the npm package hides no page, so this needs an
// installed one.
import assert from "node:assert/strict";
import { browserSuite, opened } from "./support/suite.ts";

const { check } = await browserSuite();

check("a leading tab in the background continues", async ({ store, newTab, skip }) => {
  const leader = await opened(await newTab(), { store });
  const front = await opened(await newTab(), { store });
  const isVisible = await leader.page.evaluate(() => document.visibilityState === "visible");
  if (isVisible) return skip("this build of the browser hides no page");
  await front.start("w", { steps: 3, signals: 1, updates: 1 });
  await front.update("w", "u");
  await front.signal("w", "s");
  assert.equal((await front.result("w")).steps.length, 6);
  assert.equal(await leader.role(), "leader");
});
