// runtime: node
// A search for the name of an exported function finds one definition.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";

/** Names with several definitions, by the reason. */
const REPEATED: Readonly<Record<string, readonly string[]>> = {
  "`@temporalio/*` and Temporalex have it, as part of their API": [
    "activityInfo",
    "cancelled",
    "continueAsNew",
    "defineSearchAttributeKey",
    "deprecatePatch",
    "executeChild",
    "heartbeat",
    "isCancellation",
    "loadClientConfigProfile",
    "loadClientConnectConfig",
    "patched",
    "setCurrentDetails",
    "sleep",
    "startChild",
    "toPayloads",
    "upsertMemo",
    "upsertSearchAttributes",
    "uuid4",
    "workflowInfo",
  ],
  "several packages of `@temporalio/*` have it": ["decode", "encode", "getClient"],
  "processes and tabs have it, as part of their API": ["open"],
  "Node calls hooks of modules by these names": ["initialize", "resolve"],
};

test("no two exported functions have the same name", () => {
  const files = execFileSync("git", ["ls-files", "ts", "web-demo/src"], { encoding: "utf8" })
    .split("\n").filter((file) => /\.tsx?$/.test(file) && !/\/generated\//.test(file));
  const definitions = new Map<string, Set<string>>();
  for (const file of files) {
    const text = readFileSync(file, "utf8");
    for (const [, name] of text.matchAll(/^export (?:async )?function\*? ([\w$]+)/gm)) {
      definitions.set(name!, (definitions.get(name!) ?? new Set()).add(file));
    }
  }
  assert.ok(definitions.size > 1000, `${definitions.size} functions found`);
  const repeated = [...definitions].filter(([, files]) => files.size > 1);
  const allowed = new Set(Object.values(REPEATED).flat());
  assert.deepEqual(
    repeated.filter(([name]) => !allowed.has(name)).map(([name, files]) =>
      `${name}: ${[...files].join(", ")}`
    ),
    [],
  );
  const names = new Set(repeated.map(([name]) => name));
  assert.deepEqual([...allowed].filter((name) => !names.has(name)), [], "no longer repeated");
});
