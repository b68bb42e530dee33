// Bisection: over events of a session, and over versions of the code.
import { bisectEvents, bisectVersions, openSession } from "../../ts/debug/mod.ts";
import { deepEqual, equal, ok, rejects } from "./assert.ts";
import type { Case } from "./case.ts";
import { API, withRealm } from "./realm_host.ts";

const text = (ms: number) =>
  `${API}export const main = workflow("Main", async () => {
  for (let i = 1; i <= 9; i++) {
    publishState(i);
    await sleep(i * 1000);
  }
  ${ms > 0 ? `await sleep(${ms});` : ""}
});`;

export const cases: Case[] = [
  {
    name:
      "bisect finds the first event at which a condition holds, and the first version that does not replay",
    run: () =>
      withRealm(text(0), async (h) => {
        const run = h.start("Main");
        await run.auto();
        const history = run.server.history();
        const session = await openSession(history, { realm: h.realm });
        const stateOf = (view: ReturnType<typeof session.viewAt>) =>
          view.published !== undefined && "value" in view.published
            ? Number(view.published.value)
            : 0;
        for (let wanted = 1; wanted <= 9; wanted++) {
          const { first, before, tried } = bisectEvents(session, (view) => stateOf(view) >= wanted);
          equal(first, session.tasks[wanted - 1]!.eventId);
          equal(before, first! - 1);
          ok(tried <= 8, `${tried} looks at ${session.length} events`);
        }
        deepEqual(bisectEvents(session, () => false), {
          first: undefined,
          before: session.length,
          tried: 1,
        });
        equal(bisectEvents(session, () => true).first, 1);

        // Versions: the fourth adds a timer.
        const versions = [0, 0, 0, 5, 6];
        const seen: number[] = [];
        const diverges = (version: number) =>
          withRealm(text(versions[version]!), async ({ realm }) => {
            seen.push(version);
            return (await realm.replay(run.server.workflowId, history, { explain: false }))
              .verdict !== "ok";
          });
        const found = await bisectVersions([0, 1, 2, 3, 4], diverges);
        deepEqual(found, { first: 3, before: 2, tried: seen.length });
        equal(seen[0], 4, "the newest one first");
      }),
  },
  {
    name:
      "bisect finds every position in lists of every length in few checks; no match; progress; cancellation",
    async run() {
      for (let length = 0; length <= 40; length++) {
        const list = Array.from({ length }, (_, i) => i);
        for (let first = 0; first <= length; first++) {
          const left: number[] = [];
          const found = await bisectVersions(list, (i) => i >= first, {
            onTried: (_, __, n) => left.push(n),
          });
          equal(found.first, first === length ? undefined : first);
          equal(found.before, first === 0 ? undefined : first - 1);
          ok(
            found.tried <= Math.ceil(Math.log2(length + 1)) + 1,
            `${found.tried} looks at ${length}`,
          );
          equal(left.length, found.tried);
          if (length > 0) equal(left.at(-1), 0);
        }
      }
      const ended = AbortSignal.abort(new Error("enough"));
      await rejects(bisectVersions([1, 2], () => true, { signal: ended }), /enough/);
    },
  },
];
