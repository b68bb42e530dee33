// The tests that decide branches, with their operands, and the predicates of open conditions.
import { openSession } from "../../ts/debug/mod.ts";
import { describeCondition } from "../../ts/run_view/condition_text.ts";
import { whyText } from "../../ts/run_view/why.ts";
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
        `Signal PICKED_UP can change it: its handler writes status at line ${
          line('status = "PICKED_UP"')
        }.`,
        `Signal DRIVER_FOUND can change it: its handler writes status at line ${
          line('status = "DRIVER_FOUND";')
        }.`,
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
}, {
  name: "debug tests: handlers that can change a condition, by the variables that they write",
  // One realm for all programs: each is a workflow of the same module.
  run: () =>
    withRealm(conditionPrograms(CHANGES.map(({ code }) => code)), async ({ start, realm }) => {
      for (const [i, { code, says }] of CHANGES.entries()) {
        const run = start(`Order${i}`);
        await run.task();
        equal(run.failure, "", code);
        const session = await openSession(run.server.history(), { realm });
        // Code that runs next to the workflow can wait at another condition.
        const facts = session.code!.conditions(session.length).at(-1);
        const lines = facts === undefined ? [] : textOf(facts);
        const said = lines.map((text) =>
          text.replace(/at line (\d+)/, (_, line) => `at line ${Number(line) - i * LINES}`)
        );
        deepEqual(said, says, code);
      }
    }, { lines: true }),
}, {
  name: "debug tests: the reason for waiting names messages only if they can end a wait",
  run: async () => {
    const said = async (code: string): Promise<string> => {
      let text = "";
      await withRealm(conditionPrograms([code]), async ({ start, realm }) => {
        const run = start("Order0");
        await run.task();
        const session = await openSession(run.server.history(), { realm });
        const at = session.length;
        text = whyText(session.viewAt(at), "", session.code!.conditions(at)).said.map((part) =>
          typeof part === "string" ? part : part.name
        ).join("");
      }, { lines: true });
      return text;
    };
    equal(
      await said('let status = "NEW"; on(a, () => { status = "A"; }); wait(() => status === "A");'),
      "A change that makes its condition true would wake it, and nothing else: " +
        "no timer runs, no activity is open.",
    );
    // The predicate has no single result, so nothing is known of it.
    equal(
      await said("let n = 0; on(a, () => { n++; }); wait(() => { if (n > 1) return true; });"),
      "Signal b, signal a or a change that makes its condition true would wake it, " +
        "and nothing else: no timer runs, no activity is open.",
    );
    equal(
      await said('on(a, () => {}); await wf.sleep("14 days");'),
      "Sleep (due in 14 d) would wake it. Signal b or signal a is handled when it arrives.",
    );
  },
}];

const HEAD = `import * as wf from "@temporalio/workflow";
const a = wf.defineSignal("a");
const b = wf.defineSignal("b");
class Box { full = false; fill() { this.full = true; } }`;

/** Lines of a workflow of `conditionPrograms`. */
const LINES = 7;

/**
 * `on` sets a handler, and `wait` awaits a condition; both begin a line. Signal b has an empty
 * handler at first. Lines are those of the first workflow.
 */
const conditionPrograms = (all: readonly string[]): string =>
  [
    HEAD,
    ...all.map((code, i) => {
      const calls = code.replace(/ ?\bon\(/g, "\nwf.setHandler(")
        .replace(/ ?\bwait\(/g, "\nawait wf.condition(");
      const head = `export async function Order${i}() {\n  wf.setHandler(b, () => {});\n`;
      const lines = `${head}${calls}`.split("\n");
      while (lines.length < LINES - 1) lines.push("");
      return [...lines, "}"].join("\n");
    }),
  ].join("\n");

/** Programs, and the sentences about their condition. Line 7 is the first of the code. */
const CHANGES: readonly { readonly code: string; readonly says: readonly string[] }[] = [{
  // A predicate by name, and one that is declared later.
  code: "let s = 1; const isReady = () => s > 1; on(a, () => { s = 2; }); wait(isReady);",
  says: [
    "Condition s > 1 is false: s is 1.",
    "Signal a can change it: its handler writes s at line 8.",
  ],
}, {
  code: "let s = 1; on(a, () => { s = 2; }); wait(isReady); function isReady() { return s > 1; }",
  says: [
    "Condition s > 1 is false: s is 1.",
    "Signal a can change it: its handler writes s at line 8.",
  ],
}, {
  // A predicate that calls another.
  code: "let s = 1; const isReady = () => s > 1; on(a, () => { s = 2; }); wait(() => isReady());",
  says: [
    "Condition s > 1 is false: s is 1.",
    "Signal a can change it: its handler writes s at line 8.",
  ],
}, {
  code: "let s; on(a, () => { s = 2; }); wait(() => s !== undefined);",
  says: [
    "Condition s !== undefined is false: s is undefined.",
    "Signal a can change it: its handler writes s at line 8.",
  ],
}, {
  // No handler writes what it reads.
  code: "let s = 1, t = 1; on(a, () => { t = 2; }); wait(() => s > 1 && t > 0);",
  says: [
    "Condition s > 1 && t > 0 is false: s is 1.",
    "Signal a can change it: its handler writes t at line 8.",
  ],
}, {
  code: "let s = 1, t = 1; on(a, () => { t = 2; }); wait(() => s > 1);",
  says: ["Condition s > 1 is false: s is 1.", "No message handler that is set now writes s."],
}, {
  // Properties of one object count separately while the object has one name.
  code: "const o = { s: 1, t: 1 }; on(a, () => { o.t = 2; }); wait(() => o.s > 1);",
  says: [
    "Condition o.s > 1 is false: o.s is 1.",
    "No message handler that is set now writes o.s.",
  ],
}, {
  code: "const o = { s: { n: 1 }, t: 1 }; const p = o.s; on(a, () => { p.n = 2; }); " +
    "wait(() => o.s.n > 1);",
  says: [
    "Condition o.s.n > 1 is false: o.s.n is 1.",
    "Signal a can change it: its handler writes p.n at line 8.",
  ],
}, {
  // Methods of arrays, and functions that handlers call.
  code: "const l = []; const m = []; const put = (x) => { l.push(x); }; " +
    "on(a, (x) => put(x)); on(b, () => { m.push(1); }); wait(() => l.length > 0);",
  says: [
    "Condition l.length > 0 is false: l.length is 0.",
    "Signal a can change it: its handler writes l at line 7.",
  ],
}, {
  code: "const l = []; on(a, function put(x) { for (const y of x) l.push(y); }); " +
    "on(b, () => { if (l.includes(1)) wf.log.info(String(l.length)); }); wait(() => l.length > 0);",
  says: [
    "Condition l.length > 0 is false: l.length is 0.",
    "Signal a can change it: its handler writes l at line 8.",
  ],
}, {
  // A local name of the same spelling is another variable.
  code: "let s = 1; on(a, () => { let s = 0; s = 2; }); wait(() => s > 1);",
  says: ["Condition s > 1 is false: s is 1.", "No message handler that is set now writes s."],
}, {
  // Items of a list, through a callback and a local name.
  code: "const l = [{ ok: false }]; on(a, () => { l.forEach((x) => { x.ok = true; }); }); " +
    "wait(() => l[0].ok);",
  says: [
    "Condition l[0].ok is false.",
    "Signal a can change it: its handler writes l at line 8.",
  ],
}, {
  // Code that cannot be examined may change it.
  code: "let s = 1; const fs = [() => { s = 2; }]; on(a, () => fs[0]()); wait(() => s > 1);",
  says: ["Condition s > 1 is false: s is 1.", "Signal a may change it."],
}, {
  code: "const box = new Box(); on(a, () => { box.fill(); }); wait(() => box.full);",
  says: [
    "Condition box.full is false.",
    "Signal a can change it: its handler writes box at line 8.",
  ],
}, {
  code: "let s = 1; on(a, async () => { await wf.sleep(1000); s = 2; }); wait(() => s > 1);",
  says: [
    "Condition s > 1 is false: s is 1.",
    "Signal a can change it: its handler writes s at line 8.",
  ],
}, {
  // A handler that ends the wait of other code, which then writes what the predicate reads.
  code: "let open = 0, s = 1; (async () => { await wf.condition(() => open > 0); s = 2; })(); " +
    "on(a, () => { open = 1; }); wait(() => s > 1);",
  says: [
    "Condition s > 1 is false: s is 1.",
    "Signal a may change it: it can end another wait, after which the code writes s at line 7.",
  ],
}, {
  // The same over two waits, the first of them in a function that the other code calls.
  code: "let open = 0, t = 0, s = 1; const ready = () => wf.condition(() => open > 0); " +
    "(async () => { await ready(); t = 1; })(); " +
    "(async () => { await wf.condition(() => t > 0); s = 2; })(); " +
    "on(a, () => { open = 1; }); wait(() => s > 1);",
  says: [
    "Condition s > 1 is false: s is 1.",
    "Signal a may change it: it can end another wait, after which the code writes s at line 7.",
  ],
}, {
  // The other code writes nothing that the predicate reads.
  code:
    "let open = 0, s = 1, t = 1; (async () => { await wf.condition(() => open > 0); t = 2; })(); " +
    "on(a, () => { open = 1; }); wait(() => s > 1);",
  says: ["Condition s > 1 is false: s is 1.", "No message handler that is set now writes s."],
}, {
  // The predicate reads more than variables of the module.
  code:
    "let s = 1; on(a, () => { s = 2; }); wait(() => s > 1 && wf.workflowInfo().historyLength > 9);",
  says: [
    "Condition s > 1 && wf.workflowInfo().historyLength > 9 is false: s is 1.",
    "Signal a can change it: its handler writes s at line 8.",
    "Signal b may change it.",
  ],
}];

/** Keeps methods of a session callable after destructuring. */
const bound = (session: Awaited<ReturnType<typeof openSession>>) =>
  Promise.resolve({
    code: session.code,
    events: session.events,
    viewAt: (position: number) => session.viewAt(position),
  });
