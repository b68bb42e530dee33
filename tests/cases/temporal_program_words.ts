// Messages of programs of `@temporalio/workflow` that tests and dashboards of users search for:
// those of the official SDK.
import { readWorkflowTask } from "../../ts/messages/workflow_task.ts";
import { equal } from "./assert.ts";
import type { Case } from "./case.ts";
import { failureOf, one, withProgram } from "./temporal_program_support.ts";

const NOT_AN_ERROR =
  " [A non-Error value was thrown from your code. We recommend throwing Error objects so that we can provide a stack trace]";

export const cases: Case[] = [
  {
    name:
      "messages of temporal programs: thrown values that are not errors, unhandled rejections, unknown types",
    run: () =>
      withProgram(
        one(`export async function text() { throw "text"; }
          export async function object() { throw { a: 1 }; }
          export async function signal() { wf.setHandler(wf.defineSignal("s"), () => { throw 7; }); await wf.sleep(1000); }
          export async function unhandled() { void Promise.reject(new TypeError("not handled")); await wf.sleep(1000); }`),
        async (h) => {
          equal(await failureOf(h, "text"), `text${NOT_AN_ERROR}`);
          equal(await failureOf(h, "object"), `{"a":1}${NOT_AN_ERROR}`);
          equal(
            await failureOf(h, "unhandled"),
            "Unhandled Promise rejection: TypeError: not handled",
          );
          const run = h.start("signal");
          await run.task();
          run.server.signal("s");
          await run.task();
          equal(run.failure, `7${NOT_AN_ERROR}`);
          equal(
            await failureOf(h, "not-found"),
            "Failed to initialize workflow of type 'not-found': no such function is exported by the workflow bundle",
          );
        },
      ),
  },
  {
    name:
      "messages of temporal programs: a query without a handler names those that there are, in the official order",
    run: () =>
      withProgram(
        one(
          `export async function w() { wf.setHandler(wf.defineQuery("mine"), () => 1); await wf.sleep(1000); }`,
        ),
        async (h) => {
          const run = h.start("w");
          await run.task();
          run.server.report(
            await h.realm.runTask(readWorkflowTask(run.server.queryTask("other", [], true))),
          );
          equal(
            run.server.queryAnswers["query"]!.message,
            "Workflow did not register a handler for other. " +
              "Registered queries: [__stack_trace __enhanced_stack_trace __temporal_workflow_metadata mine]",
          );
        },
      ),
  },
];
