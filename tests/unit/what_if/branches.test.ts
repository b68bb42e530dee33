// Branches end as a real run with those inputs does on the engine: the same steps, at the same
// times, with the same values.
// takes: 10 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type Edit, type End, runBranch } from "../../../ts/what_if/mod.ts";
import type { WorkerRealm } from "../../../ts/realm/mod.ts";
import {
  type Act,
  type Activities,
  createProgramRealm,
  eventId,
  fails,
  formatHistoryLines,
  hangs,
  type Life,
  live,
  type Program,
  SHOP,
} from "./support.ts";

const realms = new Map<Program, Promise<WorkerRealm>>();
const realm = (of: Program): Promise<WorkerRealm> => {
  const found = realms.get(of) ?? createProgramRealm(of);
  realms.set(of, found);
  return found;
};
after(async () => {
  for (const each of realms.values()) await (await each).dispose();
});

interface Scene {
  readonly name: string;
  /** The run that was recorded. */
  readonly life: Life;
  readonly edits: (history: Uint8Array) => readonly Edit[];
  /** What differs in the real run. */
  readonly real: Partial<Life>;
  readonly unanswered?: End;
  /** Lines that cannot be the same. */
  readonly except?: RegExp;
}

const S = 1000;
const MIN = 60 * S;

const add = (
  ms: number,
  item: string,
  cents: number,
): Act => [ms, (h) => h.update("add" as never, item as never, cents as never)];
const signal = (
  ms: number,
  name: string,
  ...args: unknown[]
): Act => [ms, (h) => h.signal(name as never, ...args as never[])];
const cancel = (ms: number): Act => [ms, (h) => h.cancel()];

const book = add(1 * S, "book", 1000);
const pen = add(2 * S, "pen", 250);
const bought: Act[] = [book, pen, signal(5 * S, "checkout"), signal(10 * S, "confirm")];
const cart: Life = { of: "native", type: "Cart", args: ["ada"], acts: bought };

const item = (
  ms: number,
  name: string,
): Act => [ms, (h) => h.update("addItem" as never, name as never)];
const ordered: Act[] = [item(1 * S, "lamp"), item(2 * S, "desk"), signal(60 * S, "approve", true)];
const order: Life = { of: "compat", type: "order", args: ["grace"], acts: ordered };

const UPDATE = "workflowExecutionUpdateAccepted";
const SIGNAL = "workflowExecutionSignaled";
const ACTIVITY = "activityTaskScheduled";
const TIMER = "timerStarted";
const CHILD = "startChildWorkflowExecutionInitiated";

const given = (result: unknown): Activities["charge"] => () => result;

const SCENES: readonly Scene[] = [
  { name: "nothing is changed", life: cart, edits: () => [], real: {} },
  {
    name: "an update has another price",
    life: cart,
    edits: (h) => [{ kind: "payload", eventId: eventId(h, UPDATE, 2), args: ["pen", 2750] }],
    real: { acts: [book, add(2 * S, "pen", 2750), ...bought.slice(2)] },
  },
  {
    name: "an update was not sent",
    life: cart,
    edits: (h) => [{ kind: "drop", eventId: eventId(h, UPDATE, 2) }],
    real: { acts: [book, ...bought.slice(2)] },
  },
  {
    name: "an update came twice",
    life: cart,
    edits: (h) => [
      { kind: "duplicate", eventId: eventId(h, UPDATE, 2), afterMs: 1 * S },
      {
        kind: "answer",
        key: "activity ship 1",
        end: { kind: "completed", result: "parcel of pen" },
        afterMs: 1500,
      },
    ],
    real: { acts: [book, pen, add(3 * S, "pen", 250), ...bought.slice(2)] },
  },
  {
    name: "a validator rejects the changed update",
    life: cart,
    edits: (h) => [{ kind: "payload", eventId: eventId(h, UPDATE, 2), args: ["pen", -1] }],
    real: { acts: [book, add(2 * S, "pen", -1), ...bought.slice(2)] },
  },
  {
    name: "cancel instead of confirm",
    life: cart,
    edits: (
      h,
    ) => [{
      kind: "replace",
      eventId: eventId(h, SIGNAL, 2),
      message: { kind: "signal", name: "cancel", args: [] },
    }],
    unanswered: { kind: "completed", result: "all" },
    real: {
      acts: [...bought.slice(0, 3), signal(10 * S, "cancel")],
      activities: { refund: given("all") },
    },
  },
  {
    name: "a signal that was never sent",
    life: cart,
    edits: (h) => [
      {
        kind: "insert",
        after: eventId(h, UPDATE, 2) + 1,
        afterMs: 1 * S,
        message: { kind: "signal", name: "remove", args: ["book"] },
      },
    ],
    real: { acts: [book, pen, signal(3 * S, "remove", "book"), ...bought.slice(2)] },
  },
  {
    name: "an update that was never sent",
    life: cart,
    edits: (h) => [
      {
        kind: "insert",
        after: eventId(h, SIGNAL) - 1,
        message: { kind: "update", name: "add", args: ["cup", 5] },
        afterMs: 1 * S,
      },
      {
        kind: "answer",
        key: "activity ship 1",
        end: { kind: "completed", result: "parcel of cup" },
        afterMs: 1500,
      },
    ],
    real: { acts: [book, pen, add(3 * S, "cup", 5), ...bought.slice(2)] },
  },
  {
    name: "the order of two updates is changed",
    life: cart,
    edits: (
      h,
    ) => [{ kind: "move", eventId: eventId(h, UPDATE, 1), after: eventId(h, UPDATE, 2) + 1 }],
    real: { acts: [pen, add(2 * S, "book", 1000), ...bought.slice(2)] },
  },
  {
    name: "the customer has another name",
    life: cart,
    edits: () => [{ kind: "input", args: ["grace"] }],
    real: { args: ["grace"] },
  },
  {
    name: "the charge is declined",
    life: cart,
    edits: (
      h,
    ) => [{
      kind: "activity",
      eventId: eventId(h, ACTIVITY),
      end: { kind: "failed", failure: { message: "declined" } },
    }],
    real: { activities: { charge: fails("declined", true) } },
  },
  {
    name: "the charge returns something else",
    life: cart,
    edits: (
      h,
    ) => [{
      kind: "activity",
      eventId: eventId(h, ACTIVITY),
      end: { kind: "completed", result: "by hand" },
      afterMs: 0,
    }],
    real: { activities: { charge: given("by hand") } },
  },
  {
    name: "the charge returns nothing",
    life: cart,
    edits: (
      h,
    ) => [{
      kind: "activity",
      eventId: eventId(h, ACTIVITY),
      end: { kind: "completed" },
      afterMs: 0,
    }],
    real: { activities: { charge: given(undefined) } },
  },
  {
    name: "the charge fails until no attempt is left",
    life: cart,
    edits: (h) => [
      {
        kind: "activity",
        eventId: eventId(h, ACTIVITY),
        afterMs: 0,
        end: { kind: "failed", failure: { message: "busy", nonRetryable: false } },
      },
    ],
    real: {
      activities: {
        charge: () => {
          throw new Error("busy");
        },
      },
    },
  },
  {
    name: "one of two parallel parcels fails",
    life: cart,
    edits: (
      h,
    ) => [{
      kind: "activity",
      eventId: eventId(h, ACTIVITY, 3),
      end: { kind: "failed", failure: { message: "lost" } },
    }],
    real: {
      activities: {
        ship: (of: string) => of === "pen" ? fails("lost", true)() : SHOP["ship"]!(of),
      },
    },
  },
  {
    name: "a timer fires earlier",
    life: cart,
    edits: (h) => [{ kind: "timer", eventId: eventId(h, TIMER), afterMs: 10 * S }],
    real: { args: ["ada", 10 * S] },
    except: /^run started|^timer/,
  },
  {
    name: "the run is asked to cancel while it sleeps",
    life: cart,
    edits: (
      h,
    ) => [{
      kind: "insert",
      after: eventId(h, TIMER),
      afterMs: 5 * S,
      message: { kind: "cancel", reason: "" },
    }],
    real: { acts: [...bought, cancel(15 * S)] },
  },
  {
    name: "the run is terminated",
    life: cart,
    edits: (
      h,
    ) => [{
      kind: "insert",
      after: eventId(h, TIMER),
      afterMs: 5 * S,
      message: { kind: "terminate", reason: "enough" },
    }],
    real: { acts: [...bought, [15 * S, (h) => h.terminate("enough")]] },
  },
  {
    name: "several changes at once",
    life: cart,
    edits: (h) => [
      { kind: "payload", eventId: eventId(h, UPDATE, 1), args: ["atlas", 9000] },
      { kind: "drop", eventId: eventId(h, UPDATE, 2) },
      {
        kind: "activity",
        eventId: eventId(h, ACTIVITY),
        end: { kind: "completed", result: "r1" },
        afterMs: 0,
      },
    ],
    real: {
      acts: [add(1 * S, "atlas", 9000), ...bought.slice(2)],
      activities: { charge: given("r1"), ship: () => SHOP["ship"]!("book") },
    },
  },
  {
    name: "an open run continues",
    life: { ...cart, acts: bought.slice(0, 3), openAtMs: 8 * S },
    edits: (h) => [
      {
        kind: "insert",
        after: eventId(h, "activityTaskCompleted"),
        afterMs: 3500,
        message: { kind: "signal", name: "cancel", args: [] },
      },
      { kind: "answer", key: "activity refund 1", end: { kind: "completed", result: "all" } },
    ],
    real: {
      acts: [...bought.slice(0, 3), signal(10 * S, "cancel")],
      activities: { refund: given("all") },
      openAtMs: undefined as never,
    },
  },
  {
    name: "a race is lost",
    life: race([signal(5 * S, "go", "first")]),
    edits: (h) => [{ kind: "drop", eventId: eventId(h, SIGNAL) }],
    real: { acts: [] },
  },
  {
    name: "a race is won late",
    life: race([]),
    edits: (h) => [
      {
        kind: "insert",
        after: eventId(h, TIMER),
        afterMs: 30 * MIN,
        message: { kind: "signal", name: "go", args: ["late"] },
      },
    ],
    real: { acts: [signal(30 * MIN, "go", "late")] },
  },
  {
    name: "a child fails",
    life: family(),
    edits: (
      h,
    ) => [{
      kind: "child",
      eventId: eventId(h, CHILD),
      end: { kind: "failed", failure: { message: "no van", type: "Error" } },
    }],
    real: { activities: { ship: async () => ((await SHOP["ship"]!("")), "") } },
  },
  {
    name: "a family as it was",
    life: family(),
    edits: () => [{ kind: "input", args: ["vase"] }],
    real: {},
  },
  {
    name: "a run continues for another round",
    life: { of: "native", type: "Rounds", args: [1], acts: [signal(1 * S, "go", "done")] },
    edits: (h) => [{ kind: "payload", eventId: eventId(h, SIGNAL), args: ["again"] }],
    real: { acts: [signal(1 * S, "go", "again"), signal(2 * S, "go", "done")] },
  },
  {
    name: "a signal is moved behind what came after it: it is taken, and the next one, too",
    life: race([signal(5 * S, "go", "first"), signal(8 * S, "go", "second")]),
    edits: (h) => [{ kind: "move", eventId: eventId(h, SIGNAL, 1), after: eventId(h, SIGNAL, 2) }],
    real: { acts: [signal(8 * S, "go", "second"), signal(8 * S, "go", "first")] },
  },
  {
    name: "an update is replaced by a signal",
    life: cart,
    edits: (h) => [
      {
        kind: "replace",
        eventId: eventId(h, UPDATE, 2),
        message: { kind: "signal", name: "remove", args: ["book"] },
      },
    ],
    real: { acts: [book, signal(2 * S, "remove", "book"), ...bought.slice(2)] },
  },
  {
    name: "a signal is replaced by a request to cancel",
    life: cart,
    edits: (
      h,
    ) => [{
      kind: "replace",
      eventId: eventId(h, SIGNAL, 2),
      message: { kind: "cancel", reason: "" },
    }],
    real: { acts: [...bought.slice(0, 3), cancel(10 * S)] },
  },
  {
    name: "a request to cancel was not sent",
    life: { ...cart, acts: [...bought, cancel(15 * S)] },
    edits: (h) => [{ kind: "drop", eventId: eventId(h, "workflowExecutionCancelRequested") }],
    unanswered: { kind: "completed", result: "parcel of book" },
    real: { acts: bought, activities: { ship: () => "parcel of book" } },
  },
  {
    name: "a request to cancel comes earlier",
    life: { ...cart, acts: [...bought, cancel(15 * S)] },
    edits: (h) => [
      {
        kind: "move",
        eventId: eventId(h, "workflowExecutionCancelRequested"),
        after: eventId(h, "activityTaskCompleted"),
      },
    ],
    real: { acts: [...bought.slice(0, 3), cancel(6500)] },
  },
  { name: "compat: nothing is changed", life: order, edits: () => [], real: {} },
  {
    name: "compat: the approval is refused",
    life: order,
    edits: (h) => [{ kind: "payload", eventId: eventId(h, SIGNAL), args: [false] }],
    real: { acts: [...ordered.slice(0, 2), signal(60 * S, "approve", false)] },
  },
  {
    name: "compat: no answer comes",
    life: order,
    edits: (h) => [{ kind: "drop", eventId: eventId(h, SIGNAL) }],
    real: { acts: ordered.slice(0, 2) },
  },
  {
    name: "compat: an update was not sent",
    life: order,
    edits: (h) => [{ kind: "drop", eventId: eventId(h, UPDATE, 1) }],
    real: { acts: ordered.slice(1) },
  },
  {
    name: "compat: a validator rejects",
    life: order,
    edits: (h) => [{ kind: "payload", eventId: eventId(h, UPDATE, 1), args: [""] }],
    real: { acts: [item(1 * S, ""), ...ordered.slice(1)] },
  },
  {
    name: "compat: cancelled within the hour",
    life: order,
    edits: (h) => [
      {
        kind: "insert",
        after: eventId(h, "activityTaskCompleted"),
        afterMs: 30 * MIN,
        message: { kind: "cancel" },
      },
    ],
    unanswered: { kind: "completed", result: "all" },
    real: {
      acts: [...ordered, cancel(60 * S + 1500 + 30 * MIN)],
      activities: { refund: given("all") },
    },
  },
  {
    name: "compat: the charge fails for good",
    life: order,
    edits: (
      h,
    ) => [{
      kind: "activity",
      eventId: eventId(h, ACTIVITY),
      end: { kind: "failed", failure: { message: "declined" } },
    }],
    real: { activities: { charge: fails("declined", true) } },
  },
  {
    name: "compat: the charge times out",
    life: order,
    edits: (h) => [{ kind: "activity", eventId: eventId(h, ACTIVITY), end: { kind: "timed out" } }],
    real: { activities: { charge: hangs } },
  },
  {
    name: "compat: the order of two updates is changed",
    life: order,
    edits: (
      h,
    ) => [{ kind: "move", eventId: eventId(h, UPDATE, 1), after: eventId(h, UPDATE, 2) + 1 }],
    real: { acts: [item(2 * S, "desk"), item(2 * S, "lamp"), ...ordered.slice(2)] },
  },
  {
    name: "compat: an update is replaced by another",
    life: order,
    edits: (h) => [
      {
        kind: "replace",
        eventId: eventId(h, UPDATE, 1),
        message: { kind: "update", name: "addItem", args: ["chair"] },
      },
      {
        kind: "activity",
        eventId: eventId(h, ACTIVITY, 2),
        end: { kind: "completed", result: "parcel of chair" },
      },
    ],
    real: { acts: [item(1 * S, "chair"), ...ordered.slice(1)] },
  },
  {
    name: "compat: the approval is replaced by a cancellation request",
    life: order,
    edits: (h) => [{ kind: "replace", eventId: eventId(h, SIGNAL), message: { kind: "cancel" } }],
    real: { acts: [...ordered.slice(0, 2), cancel(60 * S)] },
  },
  {
    name: "compat: terminated within the hour",
    life: order,
    edits: (h) => [
      {
        kind: "insert",
        after: eventId(h, TIMER, 2),
        afterMs: 30 * MIN,
        message: { kind: "terminate", reason: "enough" },
      },
    ],
    real: { acts: [...ordered, [60 * S + 1500 + 30 * MIN, (h) => h.terminate("enough")]] },
  },
];

function race(acts: readonly Act[]): Life {
  return { of: "native", type: "Race", args: [], acts };
}
function family(): Life {
  return { of: "native", type: "Family", args: ["vase"], acts: [] };
}

assert.ok(SCENES.length >= 40, `${SCENES.length} scenes`);

const lives = new Map<Life, Promise<Uint8Array>>();
const recordedOf = (life: Life): Promise<Uint8Array> => {
  const found = lives.get(life) ?? live(life);
  lives.set(life, found);
  return found;
};

for (const { name, life, edits, real, unanswered, except } of SCENES) {
  test(name, async () => {
    const recorded = await recordedOf(life);
    const result = await runBranch(recorded, {
      realm: await realm(life.of),
      edits: edits(recorded),
      ...(unanswered !== undefined && { unanswered }),
    });
    const lines = (history: Uint8Array) =>
      formatHistoryLines(history).filter((line) => except?.test(line) !== true);
    assert.deepEqual(
      lines(result.history),
      lines(await live({ ...life, ...real })),
      JSON.stringify(result.outcome),
    );
  });
}
