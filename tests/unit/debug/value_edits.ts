// Two programs, and edits of values in them that no replay compares.

export const PROGRAM = `import * as wf from "@temporalio/workflow";
const acts = wf.proxyActivities({
  startToCloseTimeout: "10s",
  heartbeatTimeout: "5s",
  retry: { maximumAttempts: 5, initialInterval: "2s", nonRetryableErrorTypes: ["Declined"] },
});
const plain = wf.proxyActivities({ scheduleToCloseTimeout: "1m" });
const PRICE = 250;
const shipping = { city: "Bern", zip: "3000", fast: false };
export async function Kid(x) {
  await wf.sleep("1 minute");
  return x;
}
export async function Order(who) {
  let isRaised = false;
  wf.setHandler(wf.defineUpdate("raise"), (by) => {
    isRaised = true;
    return { raised: by, level: "gold" };
  });
  await wf.condition(() => isRaised);
  await wf.sleep("30 days");
  await acts.charge({ who, cents: 1200, lines: ["a", "b"] }, 1);
  await plain.note(PRICE, shipping, "from", "to");
  const kid = await wf.startChild(Kid, {
    workflowId: "kid",
    args: [[1, 2], { seats: 3 }],
    workflowRunTimeout: "1h",
    memo: { level: 1 },
    retry: { maximumAttempts: 2 },
  });
  await kid.signal("hi", 7, { urgent: true });
  await kid.result();
  wf.upsertMemo({ stage: "packing", count: 2 });
  wf.upsertSearchAttributes({ CustomKeywordField: ["a"], CustomIntField: [4] });
  await Promise.all([wf.sleep(5000), wf.sleep(7000)]);
  await wf.condition(() => false, "2s");
  return { total: 1, note: "thanks", tags: ["x"] };
}
export async function Failing(who) {
  await wf.sleep(1000);
  throw wf.ApplicationFailure.nonRetryable("sold out", "Stock", { left: 0 });
}
export async function Renewal(who) {
  await wf.sleep(1000);
  if (who === "ada") await wf.continueAsNew("bob", { round: 2 });
}
`;

export const NATIVE = `import { activities, sleep, workflow } from "temporalex/workflow";
const shop = activities({ startToClose: "10s" });
export const native = workflow("Native", async (who) => {
  await sleep("2 hours");
  await shop.pay(new Map([["tea", 3]]), new Set(["x"]), NaN);
  await shop.note(new Date(Date.UTC(2026, 0, 31)), new Uint8Array([1, 2, 3]));
  return { total: -0, at: 5 };
});
`;

export interface ValueEdit {
  readonly workflow: "Order" | "Failing" | "Renewal" | "Native";
  /** A text of the program, and its replacement. */
  readonly from: string;
  readonly to: string;
  /** Part of the expected line; absent: the edited text. */
  readonly line?: string;
  /** "path: value in history -> value in the code". */
  readonly changes: readonly string[];
}

type Row = readonly [from: string, to: string, changes: string | readonly string[], line?: string];
const rows = (workflow: ValueEdit["workflow"], list: readonly Row[]): ValueEdit[] =>
  list.map(([from, to, changes, line]) => ({
    workflow,
    from,
    to,
    changes: [changes].flat(),
    ...(line !== undefined && { line }),
  }));

const CHARGE = "await acts.charge(";
const NOTE = "await plain.note(";
const CHILD = "wf.startChild(";

export const EDITS: readonly ValueEdit[] = [
  ...rows("Order", [
    ["cents: 1200", "cents: 1300", "input[0].cents: 1200 -> 1300"],
    ["cents: 1200", 'cents: "1200"', 'input[0].cents: 1200 -> "1200"'],
    ["cents: 1200, ", "", "input[0].cents: 1200 -> nothing", CHARGE],
    ["cents: 1200", "cents: 1200, tip: 5", "input[0].tip: nothing -> 5"],
    ["{ who,", "{ who: who.toUpperCase(),", 'input[0].who: "ada" -> "ADA"'],
    ["{ who,", '{ who: "",', 'input[0].who: "ada" -> ""', CHARGE],
    ['["a", "b"]', '["b", "a"]', [
      'input[0].lines[0]: "a" -> "b"',
      'input[0].lines[1]: "b" -> "a"',
    ]],
    ['["a", "b"]', '["a"]', 'input[0].lines: ["a","b"] -> ["a"]'],
    ["}, 1);", "}, 2);", "input[1]: 1 -> 2"],
    ["}, 1);", "});", "input[1]: 1 -> nothing", CHARGE],
    ["PRICE = 250", "PRICE = 2_50.5", "input[0]: 250 -> 250.5", NOTE],
    ['city: "Bern"', 'city: "Basel"', 'input[1].city: "Bern" -> "Basel"', NOTE],
    ["fast: false", "fast: true", "input[1].fast: false -> true", NOTE],
    ['"from", "to"', '"to", "from"', ['input[2]: "from" -> "to"', 'input[3]: "to" -> "from"']],
    ["PRICE, shipping", "shipping, PRICE", [
      'input[0]: 250 -> {"city":"Bern","zip":"3000","fast":false}',
      'input[1]: {"city":"Bern","zip":"3000","fast":false} -> 250',
    ]],
    ['"30 days"', '"30 hours"', "duration: 30 d -> 1 d 6 h"],
    ['"30 days"', "30 * 24 * 3600 * 1000 + 1", "duration: 30 d -> 30 d 0.001 s"],
    ['"2s");', '"2m");', "duration: 2 s -> 2 min"],
    ["wf.sleep(7000)", "wf.sleep(9000)", "duration: 7 s -> 9 s"],
    ['startToCloseTimeout: "10s"', 'startToCloseTimeout: "20s"', [
      "options.startToCloseTimeout: 10 s -> 20 s",
    ], CHARGE],
    ["maximumAttempts: 5", "maximumAttempts: 3", "options.retry.maximumAttempts: 5 -> 3", CHARGE],
    ['["Declined"]', '["Declined", "Lost"]', [
      "options.retry.nonRetryableErrorTypes: Declined -> Declined, Lost",
    ], CHARGE],
    ["[1, 2]", "[2, 1]", ["input[0][0]: 1 -> 2", "input[0][1]: 2 -> 1"], CHILD],
    ["seats: 3", "seats: 4", "input[1].seats: 3 -> 4", CHILD],
    ["level: 1", "level: 2", "memo.level: 1 -> 2", CHILD],
    ['RunTimeout: "1h"', 'RunTimeout: "2h"', "options.workflowRunTimeout: 1 h -> 2 h", CHILD],
    ['"hi", 7', '"hi", 8', "input[0]: 7 -> 8"],
    ['"hi", 7', '"ho", 7', "signalName: hi -> ho"],
    ["urgent: true", "urgent: false", "input[1].urgent: true -> false"],
    ['"packing"', '"sent"', 'memo.stage: "packing" -> "sent"'],
    ["count: 2", "count: 3", "memo.count: 2 -> 3"],
    ['["a"], CustomInt', '["b"], CustomInt', [
      'searchAttributes.CustomKeywordField[0]: "a" -> "b"',
    ]],
    ["CustomIntField: [4]", "CustomIntField: [5]", "searchAttributes.CustomIntField[0]: 4 -> 5"],
    ["raised: by,", "raised: by + 1,", "result.raised: 5 -> 6"],
    ['level: "gold"', 'level: "tin"', 'result.level: "gold" -> "tin"'],
    ["total: 1", "total: 2", "result.total: 1 -> 2"],
    ['tags: ["x"]', 'tags: ["x", "y"]', 'result.tags: ["x"] -> ["x","y"]'],
  ]),
  ...rows("Failing", [
    ['"sold out"', '"all gone"', 'failure.message: "sold out" -> "all gone"'],
    ['"Stock"', '"Store"', 'failure.type: "Stock" -> "Store"'],
    ["left: 0", "left: 1", "failure.details[0].left: 0 -> 1"],
  ]),
  ...rows("Renewal", [
    ['"bob"', '"eve"', 'input[0]: "bob" -> "eve"'],
    ["round: 2", "round: 3", "input[1].round: 2 -> 3"],
  ]),
  ...rows("Native", [
    ['"2 hours"', '"3 hours"', "duration: 2 h -> 3 h"],
    ['["tea", 3]', '["tea", 4]', 'input[0]: Map {"tea": 3} -> Map {"tea": 4}'],
    ['new Set(["x"])', '["x"]', 'input[1]: Set {"x"} -> ["x"]'],
    ["NaN", "null", "input[2]: NaN -> null"],
    ["0, 31)", "0, 30)", [
      'input[0]: Date "2026-01-31T00:00:00.000Z" -> Date "2026-01-30T00:00:00.000Z"',
    ]],
    ["[1, 2, 3]", "[1, 2, 4]", "input[1]: 3 bytes, byte 3 is 0x03 -> 3 bytes, byte 3 is 0x04"],
    ["total: -0", "total: 0", "result.total: -0 -> 0"],
  ]),
];
