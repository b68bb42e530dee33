// runtime: node
// P1, P2, P4, P6 in a real browser: leading tabs are reloaded, closed, crashed and frozen and the
// browser is killed, each in the middle of work (tests/system/browser/support/loop.ts).
// tools/soak/tabs.ts runs the long one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { KINDS, tabLoop } from "./support/loop.ts";

test(
  "P1 P2 P4: nothing acknowledged is lost and nothing is recorded twice when tabs and browsers end in mid-run",
  {
    timeout: 300_000,
  },
  async (t) => {
    const outcome = await tabLoop({ rounds: KINDS.length });
    if ("skipped" in outcome) return t.skip(`no browser: ${outcome.skipped}`);
    assert.deepEqual(outcome.problems, []);
    assert.equal(outcome.open, 0);
    assert.equal(outcome.replayed, outcome.runs);
    assert.ok(
      outcome.runs >= KINDS.length && outcome.acknowledged > outcome.runs,
      JSON.stringify(outcome),
    );
    assert.deepEqual(outcome.kinds, Object.fromEntries(KINDS.map((kind) => [kind, 1])));
  },
);
