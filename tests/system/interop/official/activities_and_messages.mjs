// Activities, and messages to runs.
import { WithStartWorkflowOperation } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import * as activities from "./activities.mjs";
import { until } from "../../../../dist/tests/support/until.js";
import { client, handles, outcome, run, sleep, start, taskQueue, workflow } from "./stage.mjs";

export const scenarios = {
  hello: () => run("hello", { args: ["world"] }),
  info: () => run("info", { memo: { color: "blue" } }),
  retries: () => run("retries", { exact: false }),
  timeouts: () => run("timeouts", { exact: false }),
  heartbeats: () => run("heartbeats"),
  cancelsActivity: () => run("cancelsActivity"),
  async completedElsewhere() {
    const results = [];
    for (
      const [id, complete] of Object.entries({
        byToken: (task) => client.activity.complete(task.taskToken, "by token"),
        byId: ({ workflowId, activityId }) =>
          client.activity.complete({ workflowId, activityId }, "by id"),
        failed: (task) =>
          client.activity.fail(
            task.taskToken,
            ApplicationFailure.nonRetryable("elsewhere", "Elsewhere"),
          ),
        cancelled: (task) => client.activity.reportCancellation(task.taskToken).then(() => {}),
      })
    ) {
      const handle = await start("completedElsewhere", { id: `elsewhere-${id}` });
      const task = await until("handed over", () => activities.handedOver.pop());
      // The server must have recorded that the attempt runs without its worker.
      await sleep(300);
      results.push([id, await outcome(complete(task))]);
      if (id !== "cancelled") {
        results.push([await outcome(handle.result()), await outcome(complete(task))]);
      } else await handle.terminate("seen");
    }
    return results;
  },
  async messages() {
    const handle = await start("account", { args: [10], exact: false });
    const results = [await handle.query("total")];
    await handle.signal("add", 5);
    results.push(await handle.query("total"));
    results.push(await outcome(handle.query("broken")), await outcome(handle.query("absent")));
    results.push(await outcome(handle.executeUpdate("deposit", { args: [100] })));
    results.push(await outcome(handle.executeUpdate("deposit", { args: [-1] })));
    results.push(await outcome(handle.executeUpdate("deposit", { args: [5000] })));
    results.push(await outcome(handle.executeUpdate("absent", { args: [] })));
    const accepted = await handle.startUpdate("deposit", {
      args: [1],
      waitForStage: "ACCEPTED",
      updateId: "one",
    });
    results.push(await outcome(accepted.result()));
    // The same id again is the same update.
    results.push(await outcome(handle.executeUpdate("deposit", { args: [77], updateId: "one" })));
    results.push(await outcome(handle.getUpdateHandle("one").result()));
    results.push(await outcome(handle.getUpdateHandle("other").result()));
    await handle.signal("close");
    results.push(await outcome(handle.result()));
    // After the end.
    results.push(await handle.query("total"), await outcome(handle.signal("add", 1)));
    results.push(
      await outcome(handle.executeUpdate("deposit", { args: [1] })),
      await outcome(handle.cancel()),
    );
    results.push(await outcome(handle.getUpdateHandle("one").result()));
    return results;
  },
  async signalWithStart() {
    const begin = () =>
      workflow.signalWithStart("account", {
        workflowId: "sws",
        taskQueue,
        args: [1],
        signal: "add",
        signalArgs: [2],
      });
    const first = await begin();
    const second = await begin();
    handles.set("sws", { handle: first, exact: false });
    await first.signal("close");
    return [first.signaledRunId === second.signaledRunId, await outcome(first.result())];
  },
  async updateWithStart() {
    const begin = (amount, workflowId, workflowIdConflictPolicy = "USE_EXISTING") => {
      const startWorkflowOperation = new WithStartWorkflowOperation("account", {
        workflowId,
        taskQueue,
        args: [1],
        workflowIdConflictPolicy,
      });
      return workflow.executeUpdateWithStart("deposit", { args: [amount], startWorkflowOperation });
    };
    const results = [
      await outcome(begin(2, "uws")),
      await outcome(begin(3, "uws")),
      await outcome(begin(-3, "uws")),
    ];
    results.push(await outcome(begin(2, "uws", "FAIL")));
    const handle = workflow.getHandle("uws");
    handles.set("uws", { handle, exact: false });
    await handle.signal("close");
    return [...results, await outcome(handle.result())];
  },
};
