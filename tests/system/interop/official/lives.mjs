// What becomes of a run: timers, cancellation, ends, continuing as new, failures of its code,
// policies for its id.
import { until } from "../../../../dist/tests/support/until.js";
import { outcome, run, start, taskQueue, workflow } from "./stage.mjs";

export const scenarios = {
  timers: () => run("timers", { exact: false }),
  async cancelled() {
    const handle = await start("cancelled");
    await until("asleep", async () => (await handle.fetchHistory()).events.length >= 5);
    await handle.cancel();
    return [await outcome(handle.result()), (await handle.describe()).status.name];
  },
  async ends() {
    const ends = [];
    for (
      const [id, end] of Object.entries({
        cancel: (handle) => handle.cancel(),
        terminate: (handle) => handle.terminate("enough"),
        timeout: () => {},
      })
    ) {
      const handle = await start("dies", {
        id: `dies-${id}`,
        ...(id === "timeout" && { workflowExecutionTimeout: "4s" }),
      });
      await until("asleep", async () => (await handle.fetchHistory()).events.length >= 5);
      await end(handle);
      ends.push([await outcome(handle.result()), (await handle.describe()).status.name]);
    }
    return ends;
  },
  continues: () => run("continues", { args: [3], memo: { kept: 1 } }),
  locals: () => run("locals", { exact: false }),
  patches: () => run("patches"),
  async fails() {
    const results = [];
    for (const kind of ["application", "activity", "retried"]) {
      const retry = kind === "retried"
        ? { retry: { initialInterval: 10, maximumAttempts: 5 } }
        : {};
      const handle = await start("fails", { id: `fails-${kind}`, args: [kind], ...retry });
      results.push([await outcome(handle.result()), (await handle.describe()).status.name]);
    }
    return results;
  },
  async breaks() {
    const handle = await start("breaks");
    const failed = await until(
      "failed",
      async () =>
        (await handle.fetchHistory()).events.map((event) => event.workflowTaskFailedEventAttributes)
          .find((each) => each),
    );
    await handle.terminate("seen");
    return {
      cause: failed.cause,
      message: failed.failure.message,
      type: failed.failure.applicationFailureInfo?.type,
    };
  },
  async unknownType() {
    const handle = await start("undefinedWorkflow", { exact: false });
    const failed = await until(
      "failed",
      async () =>
        (await handle.fetchHistory()).events.map((event) => event.workflowTaskFailedEventAttributes)
          .find((each) => each),
    );
    await handle.terminate();
    return failed.failure.message;
  },
  async remembers() {
    const handle = await start("remembers", {
      exact: false,
      memo: { note: "first", gone: 1, kept: [1, 2] },
    });
    return [await outcome(handle.result()), (await handle.describe()).memo];
  },
  async policies() {
    const first = await start("account", { id: "policies", exact: false });
    const again = (more) =>
      outcome(workflow.start("account", { workflowId: "policies", taskQueue, args: [], ...more }));
    const same = async (promise) => {
      const { value, error } = await promise;
      return error ?? (value.firstExecutionRunId === first.firstExecutionRunId);
    };
    const results = [
      await same(again({})),
      await same(again({ workflowIdConflictPolicy: "FAIL" })),
      await same(again({ workflowIdConflictPolicy: "USE_EXISTING" })),
      await same(again({ workflowIdReusePolicy: "REJECT_DUPLICATE" })),
    ];
    const other = (await again({ workflowIdConflictPolicy: "TERMINATE_EXISTING" })).value;
    results.push((await first.describe()).status.name);
    await other.signal("close");
    await other.result();
    results.push(await same(again({ workflowIdReusePolicy: "REJECT_DUPLICATE" })));
    results.push(await same(again({ workflowIdReusePolicy: "ALLOW_DUPLICATE_FAILED_ONLY" })));
    const last = (await again({ workflowIdReusePolicy: "ALLOW_DUPLICATE" })).value;
    await last.terminate();
    const after = (await again({ workflowIdReusePolicy: "ALLOW_DUPLICATE_FAILED_ONLY" })).value;
    await after.terminate();
    return results;
  },
};
