// Procedures as workflow code sees them (docs/dev/semantics/database.md#procedures): on the wire,
// in select, on replay.
import { create } from "@bufbuild/protobuf";
import { PayloadsSchema } from "../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";
import { defaultPayloadConverter } from "../../ts/converter/payload.ts";
import { failedResult } from "../../ts/converter/procedure_failures.ts";
import { groupEvents } from "../../ts/debug/run/grouping.ts";
import {
  on,
  procedure,
  procedures,
  select,
  signature,
  timer,
  workflow,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, throws } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

const game = procedures({
  computeDamage: signature<[target: number, power: number], number>(),
  askKing: signature<[], string>(),
});

const fight = workflow("Fight", async () => {
  const damage = await procedure(game.computeDamage, [42, 7], {
    timeout: "1m",
    summary: "first blow",
  });
  const king = await select([
    on(() => procedure(game.askKing), (word) => word),
    timer("1h", () => "silence"),
  ]);
  return `${damage}, ${king}`;
});

const caught = workflow("Caught", async () => {
  try {
    return await procedure<string>("approve", ["order"]);
  } catch (error) {
    const { message, cause } = error as Error & { cause: Error & { type: string } };
    return `${(error as Error).name} ${message}: ${cause.type} ${cause.message}`;
  }
});

export const cases: Case[] = [
  {
    name: "a procedure is an activity on a separate queue; it wins and loses selects, and replays",
    async run() {
      const d = await drive(fight);
      await d.task();
      const scheduled = d.server.events.flatMap(({ attributes: at }) =>
        at.case === "activityTaskScheduledEventAttributes" ? [at.value] : []
      );
      deepEqual(
        scheduled.map((
          s,
        ) => [s.activityType?.name, s.taskQueue?.name, s.scheduleToCloseTimeout?.seconds]),
        [
          ["procedure:compute_damage", "temporalex-procedures", 60n],
        ],
      );
      deepEqual([...d.server.activities.values()].map(({ args }) => args), [[42, 7]]);
      d.server.completeActivity("1", 12);
      await d.task();
      d.server.fireTimer([...d.server.timers.keys()][0]!);
      await d.task();
      equal(await d.finish(), "12, silence");
      const asked = d.server.events.filter(({ attributes: at }) =>
        at.case === "activityTaskCancelRequestedEventAttributes"
      );
      equal(asked.length, 1, "the procedure that lost is cancelled");
      const names = groupEvents(d.server.events).items.filter(({ kind }) => kind === "activity")
        .map(({ name }) => name);
      deepEqual(names, ["procedure compute_damage", "procedure ask_king"]);
    },
  },
  {
    name: "a procedure fails in the same way by a failed activity and by a failure result",
    async run() {
      const error = new RangeError("too much");
      const ends: unknown[] = [];
      for (const byResult of [false, true]) {
        const d = await drive(caught);
        await d.task();
        if (byResult) {
          d.server.completeActivity("1");
          const { attributes: at } = d.server.events.at(-1)!;
          if (at.case === "activityTaskCompletedEventAttributes") {
            at.value.result = create(PayloadsSchema, {
              payloads: [failedResult(error, defaultPayloadConverter)],
            });
          }
        } else d.server.failActivity("1", error);
        await d.task();
        ends.push(await d.finish());
      }
      equal(ends[1], "ActivityFailure Activity task failed: RangeError too much");
      equal(ends[0], ends[1]);
    },
  },
  {
    name: "procedures are named in snake_case; other values are rejected",
    run() {
      equal(game.computeDamage.name, "compute_damage");
      throws(
        () => procedures({ a: {} as ReturnType<typeof signature> }),
        /procedure "a" needs signature/,
      );
      throws(
        () => procedures({ askKing: signature(), AskKing: signature() }),
        /procedures "askKing" and "AskKing" would both be named "ask_king"/,
      );
      throws(
        () => procedure({} as typeof game.askKing),
        /procedure needs a member of procedures\(\{\.\.\.\}\), or a name/,
      );
      throws(
        () => procedure("a", 1 as never),
        /procedure "a" needs its arguments as an array, not number/,
      );
      throws(() => procedure("a", [], { timeout: 0 }), /timeout must be more than 0/);
      return Promise.resolve();
    },
  },
];
