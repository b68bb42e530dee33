// Procedures on any service: requested by workflows, completed from outside
// (docs/dev/semantics/database.md#procedures).
import assert from "node:assert/strict";
import {
  ProcedureNotFoundError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from "../../ts/client/mod.ts";
import { ActivityFailure, ApplicationFailure, TimeoutFailure } from "../../ts/converter/mod.ts";
import {
  continueAsNew,
  on,
  parallel,
  procedure,
  procedures,
  select,
  signal,
  signature,
  waitForSignal,
  workflow,
} from "../../ts/workflow/mod.ts";
import { until } from "../support/until.ts";
import type { Setting, Suite } from "../support/services.ts";

const game = procedures({ computeDamage: signature<[target: number, power: number], number>() });
const go = signal("go");

const hit = workflow(
  "Hit",
  async (target: number) => await procedure(game.computeDamage, [target, 7]),
);
const both = workflow("Both", async () => {
  const all = await parallel(
    [1, 2].map((target) => () => procedure(game.computeDamage, [target, 7])),
  );
  return all.map((each) => each.ok ? each.value : -1);
});
const named = workflow(
  "Named",
  async () =>
    await procedure<string>("approve", [{ order: 1 }], { id: "order-1", summary: "look" }),
);
const brief = workflow(
  "Brief",
  async (timeoutMs: number) => await procedure("approve", [], { timeout: timeoutMs }),
);
const either = workflow("Either", async () => {
  const first = await select([
    on(() => procedure<string>("approve"), (by) => `approved by ${by}`),
    on(go, () => "gone on"),
  ]);
  await waitForSignal(go);
  return first;
});
/** Asks three questions one after the other, the last one in a new run. */
const keyed = workflow("Keyed", async (asked: number[]): Promise<number[]> => {
  if (asked.length < 2) {
    const first = await procedure(game.computeDamage, [1, 1]);
    const second = await procedure(game.computeDamage, [2, 2]);
    return await continueAsNew([first, second]);
  }
  return [...asked, await procedure(game.computeDamage, [3, 3])];
});
const workflows = [keyed, hit, both, named, brief, either];

/** The procedures that a workflow has open, once there are as many. */
async function open(t: Setting, id: string, count = 1) {
  const handle = t.client.getHandle(undefined, id);
  await until("it asks", async () => (await handle.describe()).pendingProcedures.length === count);
  return await handle.procedures();
}

const rejected = (message: RegExp) => (error: unknown) =>
  error instanceof ProcedureNotFoundError && message.test(error.message);

export const proceduresTests: Suite = {
  "a procedure is asked for, listed with its arguments, and completed once": (t) =>
    t.work({ workflows }, async () => {
      const workflow = t.id("hit");
      const handle = await t.client.start(hit, { id: workflow, args: [42] });
      const [one] = await open(t, workflow);
      assert.deepEqual([one?.name, one?.args, one?.expires], [
        "compute_damage",
        [42, 7],
        undefined,
      ]);
      const { pendingActivities, pendingProcedures } = await handle.describe();
      assert.deepEqual([pendingActivities, pendingProcedures.map(({ id }) => id)], [[], [one?.id]]);
      await assert.rejects(
        t.client.completeProcedure({ workflow, name: "compute_damages" }, 1),
        rejected(
          /no open procedure "compute_damages": it has completed, .*; open procedures: "compute_damage" \(id 1\)$/,
        ),
      );
      await assert.rejects(
        t.client.failProcedure({ workflow, id: "77" }, new Error("no")),
        rejected(/with the id "77"/),
      );
      assert.equal(
        await t.client.completeProcedure({ workflow, name: game.computeDamage }, 12),
        one?.id,
      );
      assert.equal(await handle.result(), 12);
      await assert.rejects(
        handle.completeProcedure(game.computeDamage, 13),
        rejected(/the workflow is COMPLETED$/),
      );
      await assert.rejects(
        t.client.completeProcedure({ workflow: t.id("none"), name: "a" }),
        WorkflowNotFoundError,
      );
    }),

  "of several of one name the oldest is completed, and by id exactly that one; a second completion is an error":
    (t) =>
      t.work({ workflows }, async () => {
        const workflow = t.id("both");
        const handle = await t.client.start(both, { id: workflow });
        const [first, second] = await open(t, workflow, 2);
        assert.deepEqual([first?.args, second?.args], [[1, 7], [2, 7]]);
        assert.equal(
          await t.client.completeProcedure({ workflow, id: second!.id }, 200),
          second!.id,
        );
        await assert.rejects(
          t.client.completeProcedure({ workflow, id: second!.id }, 201),
          rejected(
            new RegExp(
              `with the id "${
                second!.id
              }": it has completed, .* open procedures: "compute_damage" \\(id ${first!.id}\\)$`,
            ),
          ),
        );
        assert.equal(await handle.completeProcedure("compute_damage", 100), first!.id);
        assert.deepEqual(await handle.result(), [100, 200]);
      }),

  "a repeated completion with an idempotency key never completes the next procedure": (t) =>
    t.work({ workflows }, async () => {
      const workflow = t.id("keyed");
      const { computeDamage: name } = game;
      const complete = (idempotencyKey: string, value: number) =>
        t.client.completeProcedure({ workflow, name, idempotencyKey }, value);
      const handle = await t.client.start(keyed, { id: workflow, args: [[]] });
      const current = t.client.getHandle(undefined, workflow);
      const asks = (target: number) =>
        until(
          `it asks for ${target}`,
          async () => (await current.procedures())[0]?.args[0] === target,
        );
      await asks(1);
      // Two calls at the same time, and repeated ones while the next question is open.
      const [one, same] = await Promise.all([complete("a", 10), complete("a", 11)]);
      assert.equal(one, same);
      await asks(2);
      assert.equal(await complete("a", 99), one);
      await assert.rejects(complete("a".repeat(501), 1), /idempotencyKey has 501 characters/);
      await assert.rejects(complete("", 1), /idempotencyKey is ""; expected a non-empty string/);
      await complete("a key:a", 20);
      await asks(3);
      // The keys of earlier runs are known to the new one.
      assert.equal(await complete("a", 99), one);
      await complete("a key:a", 99);
      const third = await current.failProcedure(
        { name, idempotencyKey: "c" },
        new ApplicationFailure("no", { type: "Refused" }),
      );
      await assert.rejects(handle.result(), WorkflowFailedError);
      assert.equal(await complete("c", 1), third, "also after the end of the run");
      await assert.rejects(complete("d", 1), ProcedureNotFoundError);
    }),

  "of procedures that are open at the same time, a key completes one": (t) =>
    t.work({ workflows }, async () => {
      const workflow = t.id("keys");
      const handle = await t.client.start(both, { id: workflow });
      await open(t, workflow, 2);
      const { computeDamage: name } = game;
      const ids = await Promise.all(
        [1, 2, 3].map((value) =>
          t.client.completeProcedure({ workflow, name, idempotencyKey: "x" }, value)
        ),
      );
      assert.equal(new Set(ids).size, 1);
      const [other] = await open(t, workflow, 1);
      assert.notEqual(other!.id, ids[0]);
      await t.client.completeProcedure({ workflow, name, idempotencyKey: "y" }, 7);
      const values = await handle.result();
      assert.ok(values.includes(7));
    }),

  "two completions at the same time: one is accepted": (t) =>
    t.work({ workflows }, async () => {
      const workflow = t.id("race");
      const handle = await t.client.start(hit, { id: workflow, args: [1] });
      await open(t, workflow);
      const outcomes = await Promise.allSettled(
        [1, 2].map((value) => handle.completeProcedure(game.computeDamage, value)),
      );
      assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
      const refusal = outcomes.find((outcome) => outcome.status === "rejected");
      assert.ok(refusal?.reason instanceof ProcedureNotFoundError, String(refusal?.reason));
      assert.equal(await handle.result(), outcomes[0]?.status === "fulfilled" ? 1 : 2);
    }),

  "a failed procedure rejects with what it was failed with, and is not tried again": (t) =>
    t.work({ workflows }, async () => {
      const workflow = t.id("named");
      const handle = await t.client.start(named, { id: workflow });
      const [one] = await open(t, workflow);
      assert.deepEqual([one?.id, one?.name, one?.args], ["order-1", "approve", [{ order: 1 }]]);
      await t.client.failProcedure({ workflow, id: "order-1" }, new RangeError("too much"));
      await assert.rejects(handle.result(), (error) => {
        assert.ok(error instanceof WorkflowFailedError && error.cause instanceof ActivityFailure);
        assert.ok(error.cause.cause instanceof ApplicationFailure);
        assert.deepEqual([error.cause.cause.type, error.cause.cause.message], [
          "RangeError",
          "too much",
        ]);
        return true;
      });
    }),

  "a procedure with a timeout ends by it, and is then no longer open": (t) =>
    t.work({ workflows }, async () => {
      // One that is looked at, however slow the machine is, and one that is waited for.
      const long = await t.client.start(brief, { id: t.id("brief-1"), args: [3_600_000] });
      const handle = await t.client.start(brief, { id: t.id("brief-2"), args: [300] });
      const [one] = await open(t, long.workflowId);
      assert.equal(one!.expires!.getTime() - one!.since!.getTime(), 3_600_000);
      await long.completeProcedure("approve");
      await assert.rejects(
        handle.result(),
        (error) =>
          error instanceof WorkflowFailedError && error.cause?.cause instanceof TimeoutFailure,
      );
      await assert.rejects(handle.completeProcedure("approve"), ProcedureNotFoundError);
    }),

  "a procedure that loses a select is cancelled, one that wins ends it": (t) =>
    t.work({ workflows }, async () => {
      const [wins, loses] = [t.id("wins"), t.id("loses")];
      const winner = await t.client.start(either, { id: wins });
      const loser = await t.client.start(either, { id: loses });
      await open(t, wins);
      await open(t, loses);
      await winner.completeProcedure("approve", "ada");
      await loser.signal(go);
      await until(
        "it is cancelled",
        async () => (await loser.describe()).pendingProcedures.length === 0,
      );
      await assert.rejects(
        loser.completeProcedure("approve", "bob"),
        rejected(/open procedures: none$/),
      );
      await Promise.all([winner.signal(go), loser.signal(go)]);
      assert.deepEqual(await Promise.all([winner.result(), loser.result()]), [
        "approved by ada",
        "gone on",
      ]);
    }),
};
