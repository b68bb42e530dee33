// Child workflows and cancellation (docs/dev/semantics/scopes.md#children-of-a-run): the four
// cancellation types, scopes, shields, parent close policies.
import {
  CancelledFailure,
  executeChild,
  isCancellation,
  parallel,
  shield,
  sleep,
  startChild,
  workflow,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { type Drive, drive } from "./driver.ts";

const ship = workflow(
  "Ship",
  (parcels: number): Promise<string> => Promise.resolve(`shipped ${parcels}`),
);
const describeError = (e: unknown) => `${(e as Error).name}: ${(e as Error).message}`;
const chain = (e: unknown): string[] =>
  e instanceof Error ? [describeError(e), ...chain(e.cause)] : [];
/** A task in which the child with this id starts. */
async function started(d: Drive, id: string): Promise<void> {
  d.server.others.start(id);
  await d.task();
}

export const cases: Case[] = [
  ...([
    ["waitCancellationCompleted", false],
    ["waitCancellationRequested", false],
    ["tryCancel", true],
    ["abandon", true],
  ] as const).map(([cancellationType, atOnce]): Case => ({
    name: `cancellation of the workflow, ${cancellationType}`,
    async run() {
      const w = workflow("W", async () => {
        try {
          return await executeChild(ship, { id: "s", args: [1], cancellationType });
        } catch (e) {
          return await shield(async () => {
            await sleep(1);
            return [isCancellation(e), ...chain(e)];
          });
        }
      });
      const d = await drive(w);
      await d.task();
      await started(d, "s");
      d.server.requestCancel("enough");
      await d.task();
      deepEqual(d.commands(), ["CANCEL_CHILD_WORKFLOW", ...(atOnce ? ["START_TIMER 1"] : [])]);
      const child = d.server.others.children.get("s")!;
      if (cancellationType === "abandon") equal(child.cancelRequested, undefined);
      else match(child.cancelRequested ?? "", /enough/);
      if (cancellationType !== "abandon") d.server.others.delivered();
      if (!atOnce) {
        d.server.others.cancelled("s");
        await d.task();
      } else {
        // Later results are ignored.
        d.server.others.complete("s", "too late");
      }
      if (d.server.timers.size > 0) d.server.fireTimer("1");
      await d.task();
      const seen = await d.finish() as unknown[];
      deepEqual(seen.slice(0, 2), [
        true,
        "ChildWorkflowFailure: Child Workflow execution cancelled",
      ]);
      match(String(seen[2]), /^CancelledFailure/);
    },
  })),
  {
    name: "a child that completes in spite of a cancellation request returns its result",
    async run() {
      const d = await drive(workflow("W", () => executeChild(ship, { id: "s", args: [1] })));
      await d.task();
      await started(d, "s");
      d.server.requestCancel();
      await d.task();
      d.server.others.delivered();
      d.server.others.complete("s", "anyway");
      await d.task();
      equal(await d.finish(), "anyway");
    },
  },
  {
    name: "a start that is canceled in the same task leaves no command",
    async run() {
      const w = workflow("W", async () => {
        const child = executeChild(ship, { id: "s", args: [1] });
        return await parallel([() => child, () => sleep(1)]);
      });
      const d = await drive(w);
      d.server.requestCancel();
      await d.task();
      equal(d.server.closed?.kind, "cancelled");
      equal(d.server.others.children.size, 0);
      await d.checkReplay();
    },
  },
  {
    name: "handle.cancel sends one request to the child; result() settles with its end",
    async run() {
      const w = workflow("W", async () => {
        const a = await startChild(ship, { id: "a", args: [1] });
        const b = await startChild(ship, { id: "b", args: [1], cancellationType: "tryCancel" });
        a.cancel("not needed");
        a.cancel("really");
        b.cancel("gone");
        const first = await b.result().catch(chain);
        return [first, await a.result().catch(chain)];
      });
      const d = await drive(w);
      await d.task();
      await started(d, "a");
      await started(d, "b");
      deepEqual(d.commands(), ["CANCEL_CHILD_WORKFLOW", "CANCEL_CHILD_WORKFLOW"]);
      const { children } = d.server.others;
      match(children.get("a")!.cancelRequested!, /not needed/);
      d.server.others.delivered();
      d.server.others.cancelled("a");
      await d.task();
      const [first, second] = await d.finish() as string[][];
      const cancelled = "ChildWorkflowFailure: Child Workflow execution cancelled";
      deepEqual(first, [
        cancelled,
        'CancelledFailure: child workflow "Ship" (b) was cancelled: gone',
      ]);
      equal(second![0], cancelled);
    },
  },
  {
    name:
      "a cancellation reaches children that are not awaited; a child started in a shield continues",
    async run() {
      const w = workflow("W", async () => {
        await startChild(ship, { id: "open", args: [1] });
        const kept = await shield(() => startChild(ship, { id: "kept", args: [1] }));
        const given = await kept.result().catch(describeError);
        return [given, await shield(() => kept.result())];
      });
      const d = await drive(w);
      await d.task();
      await started(d, "open");
      await started(d, "kept");
      d.server.requestCancel("why");
      await d.task();
      deepEqual(d.commands(), ["CANCEL_CHILD_WORKFLOW"]);
      match(d.server.others.children.get("open")!.cancelRequested!, /why/);
      d.server.others.complete("kept", "done");
      await d.task();
      deepEqual(await d.finish(), ["CancelledFailure: Workflow cancelled: why", "done"]);
    },
  },
  {
    name: "a pending executeChild is canceled when its scope ends; a wait for a handle just ends",
    async run() {
      const w = workflow("W", async () => {
        const handle = await startChild(ship, { id: "handle", args: [1] });
        await parallel([async () => {
          await Promise.race([
            executeChild(ship, { id: "loser", args: [1] }),
            handle.result(),
            sleep(1),
          ]);
        }]);
        return await handle.result();
      });
      const d = await drive(w);
      await d.task();
      await started(d, "handle");
      d.server.others.start("loser");
      d.server.fireTimer("1");
      await d.task();
      deepEqual(d.commands(), ["CANCEL_CHILD_WORKFLOW"]);
      match(
        d.logs.map((entry) => entry.message + JSON.stringify(entry.fields)).join(),
        /still pending.*loser/,
      );
      d.server.others.complete("handle", "done");
      await d.task();
      equal(await d.finish(), "done");
    },
  },
  {
    name: "children that are open when the workflow ends are left to their parent close policy",
    async run() {
      const w = workflow("W", async () => {
        await startChild(ship, { id: "s", args: [1], parentClosePolicy: "ABANDON" });
        return "ended";
      });
      const d = await drive(w);
      await d.task();
      await started(d, "s");
      deepEqual(d.commands(), ["COMPLETE_WORKFLOW"]);
      equal(await d.finish(), "ended");
      deepEqual(d.logs, []);
    },
  },
  {
    name: "P9: a result and a cancellation in one task or in two: the order of events decides",
    async run() {
      for (const grouped of [true, false]) {
        const w = workflow("W", async () => {
          const seen: string[] = [];
          await parallel([
            () =>
              executeChild(ship, { id: "a", args: [1] }).then(
                (x) => seen.push(x),
                (e) => seen.push(describeError(e)),
              ),
            () =>
              executeChild(ship, { id: "b", args: [1], cancellationType: "tryCancel" })
                .then((x) => seen.push(x), (e) => seen.push(describeError(e))),
          ]).catch(() => {});
          return seen;
        });
        const d = await drive(w);
        await d.task();
        d.server.others.start("a");
        d.server.others.start("b");
        if (!grouped) await d.task();
        d.server.others.complete("a", "a is done");
        if (!grouped) await d.task();
        d.server.requestCancel();
        if (!grouped) await d.task();
        else await d.task();
        deepEqual(await d.finish(), [
          "a is done",
          "ChildWorkflowFailure: Child Workflow execution cancelled",
        ]);
      }
    },
  },
  {
    name: "a CancelledFailure of the workflow propagates through a branch, as with activities",
    async run() {
      const w = workflow("W", async () => {
        await parallel([
          () => executeChild(ship, { id: "s", args: [1], cancellationType: "tryCancel" }),
        ]);
      });
      const d = await drive(w);
      await d.task();
      await started(d, "s");
      d.server.requestCancel();
      await d.task();
      equal(d.server.closed?.kind, "cancelled");
      await d.checkReplay();
      ok(new CancelledFailure() instanceof Error);
    },
  },
];
