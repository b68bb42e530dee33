// The code pane opens at the workflow's function, native or for Temporal's SDK, in the file that
// declares it.
import { workflowAt } from "../src/code/workflow_line.ts";
import { codeSet } from "../src/store/code_set.ts";
import { expect, test } from "./support/story.ts";

const at = (
  type: string,
  files: { readonly [path: string]: readonly string[] },
  entry = Object.keys(files)[0]!,
) =>
  workflowAt(
    codeSet({
      entry,
      files: Object.entries(files).map(([path, lines]) => ({ path, text: lines.join("\n") })),
      origin: "paste",
    }),
    type,
  );

test("the code pane starts at the run function of a native workflow, after its messages and queries", () => {
  const cart = [
    'import { workflow } from "temporalex/workflow";',
    'export const other = workflow("CartOther", { async run() {} });',
    'export const cart = workflow("Cart", {',
    "  queries: { status: (state) => state },",
    "  async run(customer: string) {",
    "  },",
    "});",
  ];
  expect(at("Cart", { "cart.ts": cart })).toEqual({ path: "cart.ts", line: 5 });
  expect(at("CartOther", { "cart.ts": cart })).toEqual({ path: "cart.ts", line: 2 });
  expect(at("Cart", { "cart.ts": ['workflow("Cart", async () => {', "  await run();", "});"] }))
    .toEqual({
      path: "cart.ts",
      line: 1,
    });
  expect(at("Cart", { "cart.ts": ['workflow<[string], number>("Cart", {', "  run,", "});"] }))
    .toEqual({
      path: "cart.ts",
      line: 2,
    });
});

test("the code pane finds an exported function in another file, and not a function with a longer name", () => {
  const files = {
    "index.ts": ['export * from "./order.js";'],
    "order.ts": [
      "export async function orderLater() {}",
      "",
      "export async function order(id: string): Promise<void> {",
      "}",
    ],
  };
  expect(at("order", files)).toEqual({ path: "order.ts", line: 3 });
  expect(at("or", files)).toBeUndefined();
  expect(at("a.b(", files)).toBeUndefined();
  expect(at("", files)).toBeUndefined();
});

test("a sample opens with its run function visible before any code runs", async ({ app }) => {
  const { page } = app;
  await page.setViewportSize({ width: 1280, height: 560 });
  await app.sample("shopping_cart", 1);
  const run = page.locator(".code-line", { hasText: /async run\(/ });
  await expect(run).toBeInViewport();
  await expect.poll(() => page.locator(".code-view").evaluate((element) => element.scrollTop))
    .toBeGreaterThan(0);
});
