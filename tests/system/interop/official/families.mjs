// Runs and other runs: children, parent close policies, external workflows.
import { until } from "../../../../dist/tests/support/until.js";
import { keep, outcome, run, sleep, start, workflow } from "./stage.mjs";

export const scenarios = {
  async child() {
    const results = [];
    for (
      const [id, how] of Object.entries({
        plain: {},
        abandoned: { parentClosePolicy: "ABANDON" },
      })
    ) {
      results.push(await run("parent", { id: `parent-${id}`, args: [how] }));
      keep(`parent-${id}-child`, true);
    }
    return results;
  },
  async children() {
    const options = {
      returns: {},
      fails: {},
      retried: { retry: { initialInterval: 1000, maximumAttempts: 2 } },
      continues: {},
      cancelled: {},
      timesOut: { args: ["waits"], workflowRunTimeout: "4s" },
      terminated: { args: ["waits"] },
      taken: { workflowId: "taken" },
    };
    await start("obeys", { id: "taken", args: ["waits"], exact: false });
    const results = await Promise.all(
      Object.entries(options).map(async ([how, more]) => {
        const parent = await start("parentOf", {
          id: `parent-${how}`,
          args: [how, more],
        });
        if (how === "terminated") {
          const child = workflow.getHandle("parent-terminated-child");
          await until("started", () => child.describe().catch(() => false));
          await sleep(1500);
          await child.terminate("told so");
        }
        const result = await outcome(parent.result());
        // The first run of a chain is another story than its last.
        if (how !== "taken" && how !== "continues" && how !== "retried") {
          keep(`parent-${how}-child`, how !== "terminated");
        }
        return [how, result];
      }),
    );
    await workflow.getHandle("taken").terminate();
    return Object.fromEntries(results);
  },
  async closePolicies() {
    const results = {};
    for (const policy of ["TERMINATE", "REQUEST_CANCEL", "ABANDON"]) {
      const handle = await start("leaves", {
        id: `leaves-${policy}`,
        args: [policy],
      });
      await handle.result();
      const child = workflow.getHandle(`leaves-${policy}-child`);
      if (policy === "ABANDON") {
        await sleep(300);
        results[policy] = (await child.describe()).status.name;
        await child.cancel();
      }
      results[`${policy} in the end`] = await outcome(child.result());
      keep(`leaves-${policy}-child`, policy !== "ABANDON");
    }
    return results;
  },
  async family() {
    const handle = await start("parentOf", {
      id: "family",
      args: ["waits", {}],
      exact: false,
    });
    const child = workflow.getHandle("family-child");
    const described = await until(
      "started",
      () => child.describe().catch(() => false),
    );
    const { raw } = await until("pending", async () => {
      const found = await handle.describe();
      return found.raw.pendingChildren?.length > 0 && found;
    });
    const [pending] = raw.pendingChildren;
    const { parentExecution, rootExecution } = described.raw.workflowExecutionInfo;
    const seen = [
      [
        parentExecution.workflowId,
        parentExecution.runId === handle.firstExecutionRunId,
      ],
      [
        rootExecution.workflowId,
        rootExecution.runId === handle.firstExecutionRunId,
      ],
      [
        pending.workflowId,
        pending.runId === described.runId,
        pending.workflowTypeName,
        String(pending.initiatedId),
        pending.parentClosePolicy,
      ],
    ];
    const listed = await until("listed", async () => {
      for await (const { raw } of workflow.list({ query: "WorkflowId = 'family-child'" })) {
        return raw;
      }
    });
    seen.push([
      listed.parentExecution.workflowId,
      listed.rootExecution.runId === handle.firstExecutionRunId,
    ]);
    await handle.terminate();
    return [seen, await outcome(child.result())];
  },
  talks: () => run("talks", { exact: false }),
  async externals() {
    const target = await start("account", { id: "target" });
    await until(
      "begun",
      () => target.query("total").then(() => true, () => false),
    );
    const results = [await run("signalsOther", { args: ["target"] })];
    results.push(
      await run("signalsOther", { id: "signalsAbsent", args: ["absent"] }),
    );
    results.push(
      await run("signalsOther", {
        id: "signalsItself",
        args: ["signalsItself"],
      }),
    );
    results.push(await target.query("total"));
    results.push(await run("cancelsOther", { args: ["target"] }));
    results.push(
      await run("cancelsOther", { id: "cancelsAbsent", args: ["absent"] }),
    );
    results.push(await outcome(target.result()));
    results.push(
      await run("cancelsOther", { id: "cancelsClosed", args: ["target"] }),
    );
    results.push(
      await run("signalsOther", { id: "signalsClosed", args: ["target"] }),
    );
    return results;
  },
  /**
   * Values without types, as this SDK's older options send them: the service attaches the types.
   */
};
