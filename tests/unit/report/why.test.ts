// The sentences that say why a run waits: what would wake it, and what has come that nothing takes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openSession } from "../../../ts/debug/mod.ts";
import type { SessionView } from "../../../ts/debug/view.ts";
import { reportText } from "../../../ts/report/report.ts";
import { reportedRun } from "../../../ts/report/reported_run.ts";
import { whyText } from "../../../ts/run_view/why.ts";
import { API, createRealmFromText } from "../../cases/realm_host.ts";

const COMPAT = `import * as wf from "@temporalio/workflow";
export async function Trip() {
  let confirmed = false;
  wf.setHandler(wf.defineSignal("confirmTrip"), () => void (confirmed = true));
  return await wf.condition(() => confirmed, "30 days") ? "booked" : "not confirmed";
}
`;
const NATIVE = `${API}
const add = signal("add"), done = signal("done");
export const main = workflow("Main", async () => {
  await receive(0, [on(done, (_, s) => stop(s))]);
  return await receive(0, [on(add, (_, s) => stop(s + 1))]);
});
`;

async function waiting(code: string, type: string, signals: readonly string[], lines = false) {
  const { start, realm, dispose } = await createRealmFromText(code, { lines });
  try {
    const run = start(type);
    await run.task();
    for (const name of signals) run.server.signal(name);
    await run.task();
    const history = run.server.history();
    const session = await openSession(history, { realm });
    const report = reportText({
      runs: [await reportedRun({ source: "open.json", history, realm, values: "" })],
      madeMs: 0,
    });
    const why = whyText(session.viewAt(session.length), "");
    return {
      why,
      said: why.said.map((part) => typeof part === "string" ? part : part.name).join(""),
      report,
    };
  } finally {
    await dispose();
  }
}

test("why a run waits: a signal without a handler is reported with its event", async () => {
  const { why, report } = await waiting(COMPAT, "Trip", ["confirm", "confirm"]);
  assert.deepEqual(why.untaken, [{ name: "confirm", times: 2, eventId: 6 }]);
  assert.match(
    report,
    /Signal <b>confirm<\/b> was received \(twice, event 6 first\), but nothing accepts them at this point of the code\./,
  );
});

test("a condition and its timeout are one wait with the remaining time", async () => {
  for (const lines of [false, true]) {
    const { why, said } = await waiting(COMPAT, "Trip", ["confirm"], lines);
    assert.equal(why.title, "Why does it wait?");
    assert.deepEqual(why.fibers, []);
    assert.match(
      said,
      /^Signal confirmTrip, a change that makes its condition true or its timeout \(due in (30 d|29 d 23 h)\) would wake it\.$/,
    );
  }
});

test("a signal for a later receive is reported until it is received", async () => {
  assert.deepEqual((await waiting(NATIVE, "Main", ["add"])).why.untaken, [{
    name: "add",
    times: 1,
    eventId: 5,
  }]);
  assert.deepEqual((await waiting(NATIVE, "Main", ["done"])).why.untaken, []);
});

test("the outcome of a failed run has the causes of its failure", () => {
  const failure = {
    type: "activityFailure",
    message: "Activity task failed",
    cause: { type: "SoldOut", message: "no seats" },
  };
  const view = {
    outcome: { kind: "failed", failure, eventId: 9 },
    ...{ position: 9, open: [], messages: [] },
  };
  assert.equal(
    whyText(view as unknown as SessionView, "").said.map((part) =>
      typeof part === "string" ? part : part.name
    ).join(""),
    "The run failed with ActivityFailure: Activity task failed, caused by SoldOut: no seats",
  );
});
