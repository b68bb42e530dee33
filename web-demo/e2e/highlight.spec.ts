// Syntax highlighting of the code pane.
import { expect, test } from "@playwright/test";
import { readFileSync } from "node:fs";
import { HighlightedFile } from "../src/code/highlight.ts";
import { TokenizedFile } from "../../ts/run_view/code_tokens.ts";

const equal = (actual: unknown, wanted: unknown): void => expect(actual).toEqual(wanted);

const example = (name: string) => readFileSync(`examples/${name}/workflow.ts`, "utf8");

/** `name:look` of every highlighted token. */
const looks = (file: HighlightedFile, line: number, ...wanted: string[]) =>
  file.pieces(line).filter(({ look }) =>
    look !== "" && (wanted.length === 0 || wanted.includes(look))
  ).map(({ look, text }) => `${text}:${look}`);

test("the highlighted tokens of a line join to the line, in every example", () => {
  for (
    const name of [
      "shopping_cart",
      "inventory",
      "onboarding",
      "event_collector",
      "batch_process",
      "order_processing",
      "counter",
    ]
  ) {
    const file = new HighlightedFile(example(name));
    file.lines.forEach((line, i) =>
      equal(file.pieces(i + 1).map(({ text }) => text).join(""), line)
    );
  }
});

test("messages, activities and flow keywords of the shopping cart are highlighted", () => {
  const text = example("shopping_cart");
  const file = new HighlightedFile(text);
  const at = (part: string) => file.lines.findIndex((line) => line.includes(part)) + 1;
  equal(looks(file, at("on(addItem"), "update"), ["addItem:update"]);
  equal(looks(file, at("on(checkout"), "signal"), ["checkout:signal"]);
  equal(looks(file, at("shop.charge(")), ["const:keyword", "await:keyword", "charge:activity"]);
  equal(looks(file, at("await receive<readonly"), "flow"), ["receive:flow"]);
  equal(looks(file, at("// Phase 1")), ["// Phase 1: collect items.:comment"]);
});

test("a shadowed name is not highlighted", () => {
  const file = new HighlightedFile(
    [
      'import { select as pick } from "temporalex/workflow";',
      "const select = (x) => x;",
      "select(1); pick(2);",
      'const a = signal("a");',
      "other.a; a.name; ...a;",
      'log("a"); // a',
      "pick().a",
    ].join("\n"),
  );
  equal(looks(file, 3), ["pick:flow"]);
  equal(looks(file, 5), ["a:signal", "a:signal"]);
  equal(looks(file, 6), ['"a":string', "// a:comment"]);
  equal(looks(file, 7), ["pick:flow"]);
});

test("programs of @temporalio/workflow have the same colors", () => {
  const file = new HighlightedFile(
    [
      'import * as wf from "@temporalio/workflow";',
      'import { approve } from "./messages";',
      "const { charge, refund: giveBack } = wf.proxyActivities<typeof activities>({ startToCloseTimeout: '1m' });",
      "const acts = wf.proxyLocalActivities<typeof local>({});",
      "wf.setHandler(approve, () => {});",
      "await wf.sleep('1h'); await charge(1); await giveBack(1); await acts.stamp();",
    ].join("\n"),
    ['export const approve = wf.defineSignal<[string]>("approve");'],
  );
  equal(looks(file, 5), ["setHandler:flow", "approve:signal"]);
  equal(looks(file, 6).filter((look) => !/keyword|string/.test(look)), [
    "sleep:timer",
    "charge:activity",
    "giveBack:activity",
    "stamp:activity",
  ]);
});

test("comments, template strings and regular expressions can span several lines", () => {
  const file = new TokenizedFile(
    [
      "/* one",
      "two */ const a = `x ${b({ c: `y` })} z",
      "end` + 1 / 2 / 3;",
      'x.match(/[/"]\\/`/g); return /`/;',
      "const z = 1;",
    ]
      .join("\n"),
  );
  const kinds = (line: number) =>
    file.tokens(line).filter(({ kind }) => kind !== "plain").map(({ kind, text }) =>
      `${kind} ${text}`
    );
  equal(kinds(1), ["comment /* one"]);
  equal(kinds(2).slice(0, 3), ["comment two */", "keyword const", "word a"]);
  equal(kinds(2).includes("string `y`"), true);
  equal(kinds(3), ["string end`"]);
  equal(kinds(4), ["word x", "word match", 'string /[/"]\\/`/g', "keyword return", "string /`/"]);
  equal(kinds(5), ["keyword const", "word z"]);
});

test("lines have the same tokens in whatever order they are requested", () => {
  const text = example("onboarding");
  const [forward, backward] = [new TokenizedFile(text), new TokenizedFile(text)];
  const all = forward.lines.map((_, i) => forward.tokens(i + 1));
  for (let line = all.length; line > 0; line--) equal(backward.tokens(line), all[line - 1]);
});
