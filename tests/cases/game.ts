// The workflows of examples/game, task by task, live and replayed: timers, signals, children, loops
// and branches of a game.
import { buff } from "../../examples/game/buff.ts";
import { dot } from "../../examples/game/dot.ts";
import { branching, taskList, tickCounter } from "../../examples/game/flow.ts";
import { quest } from "../../examples/game/quest.ts";
import { patrol } from "../../examples/game/patrol.ts";
import { EventType } from "../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import { defaultPayloadConverter } from "../../ts/converter/mod.ts";
import { deepEqual, equal } from "./assert.ts";
import type { Case } from "./case.ts";
import { type Drive, drive } from "./driver.ts";

async function task(d: Drive): Promise<void> {
  await d.task();
  equal(d.server.taskFailure, undefined, d.server.taskFailure?.failure.message);
}

/** Fires the only open timer. */
function fire(d: Drive): void {
  const open = [...d.server.timers.keys()];
  equal(open.length, 1, "open timers");
  d.server.fireTimer(open[0]!);
}

/** Names of the timers that were started, in order. */
function timerNames(d: Drive): unknown[] {
  return d.server.events.filter((event) => event.eventType === EventType.TIMER_STARTED)
    .map(({ userMetadata }) => defaultPayloadConverter.fromPayload(userMetadata!.summary!));
}

/** The child that was started last runs and returns. */
async function childReturns(d: Drive, result: unknown): Promise<void> {
  const id = d.server.events.flatMap(({ attributes }) =>
    attributes.case === "startChildWorkflowExecutionInitiatedEventAttributes"
      ? [attributes.value.workflowId]
      : []
  ).at(-1)!;
  d.server.others.start(id);
  await task(d);
  d.server.others.complete(id, result);
  await task(d);
}

const status = async (d: Drive) => (await d.query("status")).value;

export const cases: Case[] = [
  {
    name: "buff: stacks refresh the timer, and it expires or is dispelled",
    async run() {
      const d = await drive(buff, { args: [{ durationSeconds: 60 }], cached: false });
      await task(d);
      d.server.signal("stack", 5);
      await task(d);
      d.server.signal("stack", 2);
      await task(d);
      deepEqual(timerNames(d), ["expire", "expire", "expire"]);
      fire(d);
      await task(d);
      deepEqual(await d.finish(), { finalStacks: 8, ended: "expired" });
      const other = await drive(buff, { args: [{ durationSeconds: 60 }] });
      other.server.signal("dispel");
      await task(other);
      deepEqual(await other.finish(), { finalStacks: 1, ended: "dispelled" });
    },
  },
  {
    name: "patrol: walks, waits, is configured, fights, and continues as new automatically",
    async run() {
      let d = await drive(patrol, { args: [{ route: ["gate", "well"], lives: 2 }] });
      await task(d);
      for (let i = 0; i < 3; i++) {
        fire(d);
        await task(d);
      }
      deepEqual(timerNames(d), ["start_patrol", "wait", "arrival", "wait"]);
      d.server.signal("configure", { speed: 30, alertRange: 5 });
      await task(d);
      deepEqual(await status(d), {
        waypoint: 0,
        steps: 3,
        victories: 0,
        defeats: 0,
        speed: 30,
        alertRange: 5,
      });
      d.server.suggestsContinueAsNew = true;
      d.server.signal("threat_detected", 42);
      d.server.signal("threat_detected", 44);
      await task(d);
      await childReturns(d, { victory: true });
      await d.finish();
      equal(d.server.closed!.kind, "continued");
      const { args, headers } = d.server.closed!.next!;
      d = await drive(patrol, { args, headers, runId: "44444444-2222-4333-8444-555555555555" });
      await task(d);
      await childReturns(d, { victory: false });
      deepEqual(
        await status(d),
        { waypoint: 0, steps: 3, victories: 1, defeats: 1, speed: 30, alertRange: 5 },
        "both threats were met",
      );
      d.server.signal("stand_down");
      await task(d);
      deepEqual(await d.finish(), { steps: 3, victories: 1, at: "gate", because: "stood down" });
    },
  },
  {
    name: "dot: ticks until its end, and a cancellation ends it in the middle",
    async run() {
      const init = { target: 7, damage: 5, ticks: 3 };
      deepEqual(await (await drive(dot, { args: [init] })).auto(), { target: 7, dealt: 15 });
      const d = await drive(dot, { args: [init] });
      await task(d);
      d.server.requestCancel();
      await task(d);
      equal(d.server.closed?.kind, "cancelled");
      await d.checkReplay();
    },
  },
  {
    name: "quest: subscribes to its topics, and ends with the first broadcast",
    async run() {
      const d = await drive(quest, {
        args: [{ targetEnemy: "orc", targetItem: 7 }],
        cached: false,
      });
      await task(d);
      deepEqual(d.commands().map((command) => command.replace(/ \d+$/, "")), [
        "UPSERT_SEARCH_ATTRIBUTES",
        "UPSERT_SEARCH_ATTRIBUTES",
      ]);
      d.server.signal("item_collected", 7);
      await task(d);
      deepEqual(await d.finish(), { completed: true, by: "item 7 is found" });
    },
  },
  {
    name: "counter: a loop of timers counts",
    async run() {
      const d = await drive(tickCounter, { args: [{ iterations: 4 }], cached: false });
      deepEqual(await d.auto(), { finalCount: 4 });
      deepEqual(timerNames(d), ["tick", "tick", "tick", "tick"]);
    },
  },
  {
    name: "for and spawn: children one after the other, their results added up",
    async run() {
      const d = await drive(taskList, { args: [{ taskCount: 3 }], cached: false });
      await task(d);
      for (const value of [0, 10, 20]) await childReturns(d, { value });
      equal(await d.finish(), 30);
    },
  },
  {
    name: "if and else: replay takes the recorded branch",
    async run() {
      for (
        const [useShortTimer, value, name] of [[true, 10, "short"], [false, 50, "long"]] as const
      ) {
        const d = await drive(branching, { args: [{ useShortTimer }], cached: false });
        equal(await d.auto(), value);
        deepEqual(timerNames(d), [name]);
      }
    },
  },
];
