// The tests that decide branches, with their operands, and the predicates of open conditions.
import { openSession } from "../../ts/debug/mod.ts";
import { describeCondition } from "../../ts/run_view/condition_text.ts";
import { deepEqual, equal, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { withRealm } from "./realm_host.ts";

const ORDER = `import * as wf from "@temporalio/workflow";
const found = wf.defineSignal("DRIVER_FOUND");
const picked = wf.defineSignal("PICKED_UP");
export async function Order(limit) {
  let status = "FINDING_DRIVER";
  let tries = 0;
  wf.setHandler(picked, () => {
    if (status === "DRIVER_FOUND") status = "PICKED_UP";
  });
  wf.setHandler(found, () => {
    status = "DRIVER_FOUND";
  });
  while (tries < limit) tries++;
  const size = tries > 2 && limit !== 7 ? "large" : "small";
  switch (size) {
    case "large":
      await wf.sleep(1000);
  }
  await wf.condition(() => status === "PICKED_UP");
  return size;
}`;

const line = (part: string): number =>
  ORDER.split("\n").findIndex((text) => text.includes(part)) + 1;

const textOf = (facts: Parameters<typeof describeCondition>[0]): string[] =>
  describeCondition(facts).map((said) =>
    said.map((part) => typeof part === "string" ? part : part.name).join("")
  );

export const cases: Case[] = [{
  name: "debug tests: operands of the last evaluation at each line, and why a condition is false",
  run: () =>
    withRealm(ORDER, async ({ start, realm }) => {
      const run = start("Order", { args: [3] });
      await run.task();
      run.server.fireTimer([...run.server.timers.keys()][0]!);
      await run.task();
      run.server.signal("PICKED_UP");
      await run.task();
      run.server.signal("DRIVER_FOUND");
      await run.task();
      equal(run.failure, "");
      const { code, events, viewAt } = await bound(
        await openSession(run.server.history(), { realm }),
      );
      const signals = events.filter(({ type }) => type === "WorkflowExecutionSignaled");
      equal(signals.length, 2);
      const at = events.length;
      const known = code!.tests(at).map(({ place, kind, text, isTrue, operands }) => [
        place.line,
        kind,
        text,
        isTrue,
        operands.map(({ text: own, value }) => `${own} ${value?.text ?? "-"}`).join(),
      ]);
      deepEqual(known, [
        [line("if (status"), "if", 'status === "DRIVER_FOUND"', false, 'status "FINDING_DRIVER"'],
        [line("while ("), "while", "tries < limit", false, "tries 3,limit 3"],
        [line("const size"), "?:", "tries > 2 && limit !== 7", true, "tries 3,limit 3"],
        [line("switch ("), "switch", "size", true, 'size "large"'],
        [
          line("wf.condition"),
          "condition",
          'status === "PICKED_UP"',
          false,
          'status "DRIVER_FOUND"',
        ],
      ]);
      const [last, ...others] = code!.conditions(at);
      equal(others.length, 0);
      deepEqual(textOf(last!), [
        'Condition status === "PICKED_UP" is false: status is "DRIVER_FOUND".',
        `Signal PICKED_UP was handled (event ${
          signals[0]!.eventId
        }) and did not change these values.`,
      ]);
      // Before the second signal has arrived.
      const before = code!.conditions(signals[1]!.eventId);
      equal(
        textOf(before[0]!)[0],
        'Condition status === "PICKED_UP" is false: status is "FINDING_DRIVER".',
      );
      equal(code!.conditions(1).length, 0);
      ok(viewAt(at).open.length > 0);
    }, { lines: true }),
}];

/** Keeps methods of a session callable after destructuring. */
const bound = (session: Awaited<ReturnType<typeof openSession>>) =>
  Promise.resolve({
    code: session.code,
    events: session.events,
    viewAt: (position: number) => session.viewAt(position),
  });
