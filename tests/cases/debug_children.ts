// What a debug session shows of children, messages to other workflows and upserts: their commands,
// the events that these became, and what the code is parked on. They have no numbers in history,
// and alike ones must not be taken for each other.
import { openSession } from "../../ts/debug/mod.ts";
import {
  executeChild,
  externalWorkflow,
  parallel,
  patched,
  startChild,
  upsertMemo,
  upsertSearchAttributes,
  workflow,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

export const cases: Case[] = [
  {
    name: "a session shows children, messages and upserts with their own events",
    async run() {
      const w = workflow("W", async () => {
        patched("p");
        upsertSearchAttributes({ Customer: "ada" });
        upsertMemo({ note: 1 });
        const one = await executeChild("Child", { id: "same", args: [1] });
        const handle = await startChild("Child", { id: "same", args: [2] });
        await parallel([
          () => handle.signal("go", 1),
          () => handle.signal("go", 2),
          () => externalWorkflow("x").cancel("why"),
        ]);
        handle.cancel("enough");
        return [one, await handle.result()];
      });
      const d = await drive(w);
      const { others } = d.server;
      await d.task();
      others.start("same");
      await d.task();
      others.complete("same", "first");
      await d.task();
      others.start("same");
      await d.task();
      for (let i = 0; i < 3; i++) others.delivered();
      await d.task();
      others.delivered();
      others.complete("same", "second");
      await d.task();
      deepEqual(await d.finish(), ["first", "second"]);

      const session = await openSession(d.server.history(), {
        realm: { workflowTypes: ["W"], replay: (...args) => d.parts.runner.replay(...args) },
      });
      equal(session.problem, undefined);
      const types = d.server.events.map(({ attributes }) =>
        attributes.case?.replace(/EventAttributes$/, "") ?? ""
      );
      const shown: string[] = [];
      const seen = new Set<number | undefined>();
      for (let at = 1; at <= session.length; at++) {
        const { commands, isInTask, event } = session.viewAt(at);
        if (!isInTask || event.type !== "WorkflowTaskCompleted") continue;
        for (const { kind, eventId, summary } of commands) {
          shown.push(`${kind} ${types[(eventId ?? 0) - 1]} ${summary}`);
          equal(seen.has(eventId), false, `two commands became event ${eventId}`);
          seen.add(eventId);
        }
      }
      deepEqual(shown, [
        'SetPatchMarker markerRecorded patch "p"',
        'UpsertSearchAttributes upsertWorkflowSearchAttributes sets search attributes {"Customer":"ada"}',
        'UpsertMemo workflowPropertiesModified sets the memo {"note":1}',
        "StartChildWorkflow startChildWorkflowExecutionInitiated child workflow Child(1)",
        "StartChildWorkflow startChildWorkflowExecutionInitiated child workflow Child(2)",
        "SignalExternalWorkflow signalExternalWorkflowExecutionInitiated signal go(1) to child same",
        "SignalExternalWorkflow signalExternalWorkflowExecutionInitiated signal go(2) to child same",
        "CancelExternalWorkflow requestCancelExternalWorkflowExecutionInitiated asks workflow x to cancel: why",
        "CancelChildWorkflow requestCancelExternalWorkflowExecutionInitiated asks child workflow 2 to cancel: enough",
        'CompleteWorkflow workflowExecutionCompleted completes the workflow with ["first","second"]',
      ]);

      const waits = new Map<string, string>();
      for (let at = 1; at <= session.length; at++) {
        for (const { kind, label, eventId, endedBy, arguments: args } of session.viewAt(at).open) {
          if (kind === "children") continue;
          const key = `${kind} ${label}`;
          waits.set(
            key,
            `${types[(eventId ?? 0) - 1]} ${types[(endedBy ?? 0) - 1] ?? ""} ${
              JSON.stringify(args ?? [])
            }`,
          );
        }
      }
      const lines = [...waits].map(([key, value]) => `${key}: ${value}`);
      equal(lines.length, 4, lines.join("\n"));
      match(
        lines.join("\n"),
        /childStart start of child workflow "Child" \(same\): startChild.*Initiated childWorkflowExecutionStarted \[2\]/,
      );
      match(
        lines.join("\n"),
        /externalSignal signal "go" to workflow same: .*externalWorkflowExecutionSignaled \[2\]/,
      );
      match(
        lines.join("\n"),
        /externalCancel cancel request to workflow x: .*externalWorkflowExecutionCancelRequested/,
      );
      match(
        lines.join("\n"),
        /childWorkflow child workflow "Child" \(same\): startChild.*Initiated childWorkflowExecutionCompleted \[2\]/,
      );
    },
  },
];
