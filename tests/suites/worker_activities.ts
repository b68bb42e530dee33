// Activities of a worker in all their ends: retries, cancellation, timeouts, completion from
// elsewhere.
import assert from "node:assert/strict";
import {
  activityContext,
  activityInfo,
  completeAsync,
  heartbeat,
  sleep as activitySleep,
  withContext,
} from "../../ts/activity/mod.ts";
import { ActivityNotFoundError, WorkflowFailedError } from "../../ts/client/mod.ts";
import {
  ActivityFailure,
  ApplicationFailure,
  type TimeoutFailure,
} from "../../ts/converter/mod.ts";
import { activities, isCancellation, workflow } from "../../ts/workflow/mod.ts";
import { until } from "../support/until.ts";
import type { Suite } from "../support/services.ts";
import { type Acts, beating, runs, runsOnce } from "./worker_programs.ts";

const fading = activities<Acts>({
  startToClose: "60s",
  heartbeat: "300ms",
  retry: { maximumAttempts: 1 },
});

const brief = activities<Acts>({ startToClose: "60ms", retry: { maximumAttempts: 1 } });

const runsBriefly = workflow("RunsBriefly", async (input: string) => await brief.work(input));

const beats = workflow("Beats", async (input: string) => await beating.work(input));

const fades = workflow("Fades", async (input: string) => await fading.work(input));

const failure = (error: unknown): ApplicationFailure => {
  assert.ok(error instanceof WorkflowFailedError && error.cause instanceof ActivityFailure);
  return error.cause.cause as ApplicationFailure;
};

export const activitiesTests: Suite = {
  "an activity is retried with the same idempotency key, and sees its last heartbeat": async (
    t,
  ) => {
    const seen: [number, string, unknown][] = [];
    const work = (input: string) => {
      const { attempt, idempotencyKey, heartbeatDetails } = activityInfo();
      seen.push([attempt, idempotencyKey, heartbeatDetails]);
      heartbeat({ reached: attempt });
      if (attempt < 3) throw new Error("not yet");
      return `${input} done`;
    };
    await t.work({ workflows: [runs], activities: { work } }, async () => {
      const handle = await t.client.start(runs, { id: t.id("w"), args: ["it"] });
      assert.equal(await handle.result(), "it done");
      const key = `${handle.workflowId}/${handle.runId}/${seen[0]![1].split("/")[2]}`;
      assert.deepEqual(seen, [[1, key, undefined], [2, key, { reached: 1 }], [3, key, {
        reached: 2,
      }]]);
    });
  },

  "attempts end with the retry policy, with a non-retryable failure, and with an unknown activity":
    async (t) => {
      let attempts = 0;
      const work = (input: string): string => {
        attempts++;
        throw new ApplicationFailure(input, { type: "Always", nonRetryable: input === "final" });
      };
      await t.work({ workflows: [runs, runsOnce], activities: { work } }, async () => {
        await assert.rejects(
          t.client.execute(runs, { id: t.id("1"), args: ["again"] }),
          (error) => failure(error).type === "Always",
        );
        assert.equal(attempts, 4);
        await assert.rejects(
          t.client.execute(runs, { id: t.id("2"), args: ["final"] }),
          (error) => failure(error).nonRetryable,
        );
        assert.equal(attempts, 5);
      });
      await t.work({ workflows: [runsOnce], activities: { other: () => 1 } }, async () => {
        await assert.rejects(
          t.client.execute(runsOnce, { id: t.id("3"), args: ["x"] }),
          (error) => {
            assert.equal(failure(error).type, "NotFoundError");
            assert.match(failure(error).message, /no activity "work"; it has other/);
            return true;
          },
        );
      });
    },

  "cancelling a workflow reaches the activity through its heartbeat": async (t) => {
    const told: unknown[] = [];
    const work = withContext(async (context) => {
      try {
        for (;;) {
          context.heartbeat("alive");
          await context.sleep(20);
        }
      } finally {
        told.push(context.cancelReason);
      }
    });
    const heartbeatThrottle = { maximumMs: 50 };
    await t.work({ workflows: [beats], activities: { work }, heartbeatThrottle }, async () => {
      const handle = await t.client.start(beats, { id: t.id("b"), args: [""] });
      await until(
        "the activity runs",
        async () => (await handle.describe()).pendingActivities[0]?.heartbeatDetails === "alive",
      );
      await handle.cancel();
      await assert.rejects(
        handle.result(),
        (error) => error instanceof WorkflowFailedError && isCancellation(error.cause),
      );
      assert.deepEqual(told, ["CANCELLED"]);
      const kinds = (await handle.fetchHistory()).events.map((event) => event.attributes.case);
      assert.ok(kinds.includes("activityTaskCanceledEventAttributes"));
    });
  },

  "timeouts: start to close, and a heart that stops beating": async (t) => {
    const ends: unknown[] = [];
    const work = async (input: string) => {
      if (input === "beat once") heartbeat();
      try {
        await activitySleep("1h");
      } catch (error) {
        ends.push(activityContext().cancelReason);
        throw error;
      }
      return "too late";
    };
    const settings = { workflows: [runsBriefly, fades], activities: { work } };
    await t.work(settings, async () => {
      await assert.rejects(
        t.client.execute(runsBriefly, { id: t.id("1"), args: [""] }),
        (error) => {
          const cause = failure(error) as unknown as TimeoutFailure;
          assert.equal(cause.timeoutType, "START_TO_CLOSE");
          return true;
        },
      );
      await assert.rejects(
        t.client.execute(fades, { id: t.id("2"), args: ["beat once"] }),
        (error) => {
          const cause = failure(error) as unknown as TimeoutFailure;
          assert.equal(cause.timeoutType, "HEARTBEAT");
          return true;
        },
      );
    });
    // A worker that is not informed of a timeout ends the attempt by itself, some seconds later, or
    // when a late heartbeat finds no task; mostly the shutdown is sooner.
    assert.equal(ends.length, 2);
    for (const end of ends) assert.match(String(end), /^(WORKER_SHUTDOWN|TIMED_OUT|NOT_FOUND)$/);
  },

  "async completion is accepted once, by token and by id": async (t) => {
    const tokens: Uint8Array[] = [];
    const work = () => {
      tokens.push(activityInfo().taskToken);
      return completeAsync();
    };
    await t.work({ workflows: [runsOnce, beats], activities: { work } }, async () => {
      const handle = await t.client.start(runsOnce, { id: t.id("1"), args: [""] });
      await until("the activity ran", () => tokens.length === 1);
      await t.client.heartbeatActivity(tokens[0]!, { half: true });
      assert.deepEqual((await handle.describe()).pendingActivities[0]!.heartbeatDetails, {
        half: true,
      });
      await t.client.completeActivity(tokens[0]!, "from outside");
      await assert.rejects(t.client.completeActivity(tokens[0]!, "again"), ActivityNotFoundError);
      assert.equal(await handle.result(), "from outside");

      const failed = await t.client.start(runsOnce, { id: t.id("2"), args: [""] });
      await until("the activity ran", () => tokens.length === 2);
      const { activityId } = (await failed.describe()).pendingActivities[0]!;
      await t.client.failActivity(
        { workflowId: failed.workflowId, activityId },
        ApplicationFailure.nonRetryable("no", { type: "Outside" }),
      );
      await assert.rejects(
        t.client.failActivity({ workflowId: failed.workflowId, activityId }, new Error("again")),
        ActivityNotFoundError,
      );
      await assert.rejects(failed.result(), (error) => failure(error).type === "Outside");

      const cancelled = await t.client.start(beats, { id: t.id("3"), args: [""] });
      await until("the activity ran", () => tokens.length === 3);
      await cancelled.cancel();
      await until(
        "the cancellation arrives",
        () =>
          t.client.heartbeatActivity(tokens[2]!).then(
            () => false,
            (error) => error.name === "ActivityCancelledError",
          ),
      );
      await t.client.reportCancellation(tokens[2]!, "stopped");
      await assert.rejects(
        cancelled.result(),
        (error) => error instanceof WorkflowFailedError && isCancellation(error.cause),
      );
    });
  },
};
