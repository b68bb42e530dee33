// runtime: node
// Every option object of the public entries rejects options that do not exist. The list comes from
// the declarations, so a new option object without a check fails here.
// takes: 4 s
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { nearestName } from "../../ts/base/nearest_name.ts";
import * as w from "../../ts/workflow/mod.ts";
import { CALLERS, WITHOUT_OPTIONS } from "./option_callers.ts";
import { OptionObjects } from "./option_objects.ts";

const UNKNOWN = "zzUnknown";
/** Positions whose names the caller does not write. */
const EXEMPT: { readonly [position: string]: string } = {
  "testing: TestEnvironment.createWorker(options).buildStamp": "internal: the compat worker's",
  "testing: TestEnvironment.runWorker(options).buildStamp": "internal: the compat worker's",
  "testing: TestEnvironment.createWorker(options).activityThreads.hooks":
    "internal: the command line's",
  "testing: TestEnvironment.runWorker(options).activityThreads.hooks":
    "internal: the command line's",
};

/**
 * Positions that also accept objects with more properties, such as a handle or `activityInfo()`:
 * only a misspelled name is rejected.
 */
const isAddress = (position: string) => /\(address\)$|fireTimer\(workflow\)$/.test(position);

const deno = ["node_modules/.bin/deno"].map((path) => resolve(path)).find(existsSync);
const skip = deno === undefined && "the npm package deno is not installed";
const list = () => OptionObjects.list(deno!, process.cwd());

/** The longest position of a caller that begins this position. */
const callerOf = (position: string): string | undefined =>
  Object.keys(CALLERS).filter((known) => position.startsWith(known)).sort((a, b) =>
    b.length - a.length
  )[0];

/**
 * A copy of `base` with an option that does not exist at `path`, which is what follows the caller's
 * position: ".spec.calendars[]".
 */
function withUnknown(base: unknown, path: string, unknown: string): unknown {
  if (path === "") return { ...base as object, [unknown]: "1" };
  if (path.startsWith("[]")) {
    return [withUnknown(Array.isArray(base) ? base[0] : undefined, path.slice(2), unknown)];
  }
  const [, name = "", rest = ""] = /^\.(\w+)(.*)$/.exec(path) ?? [];
  const before = (base as { [name: string]: unknown } | undefined)?.[name];
  return { ...base as object, [name]: withUnknown(before, rest, unknown) };
}

const rejects = (call: () => unknown, message: RegExp) =>
  assert.rejects(async () => await call(), (error: Error) => {
    assert.equal(error.name, "TypeError", String(error.stack));
    assert.match(error.message, message);
    return true;
  });

test("the list has every entry, and no caller without a declaration", { skip }, () => {
  const positions = [...list().keys()];
  assert.ok(positions.length > 150, `${positions.length} option objects`);
  assert.deepEqual(Object.keys(CALLERS).filter((position) => !positions.includes(position)), []);
  assert.deepEqual(Object.keys(EXEMPT).filter((position) => !positions.includes(position)), []);
  assert.deepEqual(positions.filter((position) => callerOf(position) === undefined), []);
});

test("an unknown name is rejected in every option object", { skip }, async () => {
  const accepted: string[] = [];
  for (const position of list().keys()) {
    const caller = callerOf(position);
    if (caller === undefined || Object.hasOwn(EXEMPT, position)) continue;
    const { call, base = {} } = CALLERS[caller]!;
    const unknown = isAddress(position) ? "runID" : UNKNOWN;
    const options = withUnknown(base, position.slice(caller.length), unknown);
    const error = await Promise.resolve().then(() => call(options)).catch((thrown) => thrown);
    const isRejected = error instanceof TypeError &&
      error.message.includes(`has no option "${unknown}"`);
    if (!isRejected) accepted.push(`${position}: ${error}`);
  }
  assert.deepEqual(accepted, []);
});

test("a function without options rejects options", async () => {
  for (const [name, call] of Object.entries(WITHOUT_OPTIONS)) {
    await rejects(
      () => call({ timeOut: "1s" }),
      name.startsWith("on ")
        ? /has no option "timeOut"/
        : /has no parameter for options \(\{ timeOut \}\)/,
    );
  }
});

test("a search attribute with a misspelled property is rejected", async () => {
  const key = w.defineSearchAttributeKey("Status", "KEYWORD");
  await rejects(
    () =>
      CALLERS["client: Client.start(options)"]!.call({
        id: "w",
        searchAttributes: [{ key, value: "x", vaule: 1 }],
      }),
    /^a search attribute has no option "vaule"; did you mean value\?$/,
  );
});

test("the message names the nearest option, and the name of this package for one of Temporal's", async () => {
  const cases: [given: object, message: string][] = [
    [
      { startToCloseTimeout: "1s" },
      'activities has no option "startToCloseTimeout"; Temporal\'s startToCloseTimeout is called startToClose here',
    ],
    [{ heartBeat: "1s" }, 'activities has no option "heartBeat"; did you mean heartbeat?'],
    [
      { retry: { maxAttempts: 1 } },
      'retry has no option "maxAttempts"; did you mean maximumAttempts?',
    ],
    [
      { retry: { zz: 1 } },
      'retry has no option "zz"; known options: initialInterval, backoffCoefficient, maximumInterval, maximumAttempts, nonRetryableErrorTypes',
    ],
  ];
  for (const [given, message] of cases) {
    assert.throws(() => w.activities(given), { name: "TypeError", message });
  }
  await rejects(
    () => w.receive(0, [], { timeOut: "1s" } as object),
    /^receive has no option "timeOut"; did you mean timeout\?$/,
  );
  await rejects(
    () => w.executeChild("W", { workflowId: "x" } as object),
    /Temporal's workflowId is called id here$/,
  );
  assert.equal(nearestName("constructor", ["timeout"]), undefined);
});

test("the index and the array that callbacks of arrays get are not taken for options", () => {
  assert.deepEqual(
    ["a", "b"].map(w.signal as (name: string) => { name: string }).map(({ name }) => name),
    ["a", "b"],
  );
  assert.throws(() => ["1s"].map(w.sleep as () => unknown), /sleep/);
  assert.throws(() => [w.signal("s")].map(w.waitForSignal as () => unknown), /waitForSignal/);
});
