// Values of programs of `@temporalio/workflow`: what is sent and what is received goes through the
// functions of their types; failures are written as the official SDK writes them.
import type { Failure } from "../../ts/messages/generated/temporal/api/failure/v1/message_pb.ts";
import { jsonPayloadConverter } from "../../ts/converter/payload.ts";
import { deepEqual, equal } from "./assert.ts";
import type { Case } from "./case.ts";
import { IMPORTS, withProgram } from "./temporal_program_support.ts";

export const cases: Case[] = [
  {
    name:
      "types of values: those of signals, queries, updates and workflows convert what is received and what is sent",
    run: () =>
      withProgram({
        "/app/main.ts": `${IMPORTS}
          const type = { transferTypeConverter: { fromTransferType: (v: any) => "in " + v, toTransferType: (v: any) => v + " out" } };
          const typeInfo = { inputTypes: [type], outputType: type };
          const add = wf.defineUpdate<string, [string]>("add", { typeInfo });
          const told = wf.defineSignal<[string]>("told", { typeInfo: { inputTypes: [type] } });
          export async function w(name: string) {
            const got = [name];
            wf.setHandler(add, async (what) => { got.push(what); return "added"; });
            wf.setHandler(told, (what) => { got.push(what); });
            void wf.getExternalWorkflowHandle("other").signal(told, "sent").catch(() => {});
            await wf.condition(() => got.length === 3);
            return got.join(", ");
          }
          wf.defineWorkflowOptions(w, { staticOptions: { typeInfo } });`,
      }, async (h) => {
        const run = h.start("w", { args: ["ada"] });
        await run.task();
        equal(run.failure, "");
        const sent = run.server.events.map(({ attributes }) => attributes)
          .find(({ case: name }) =>
            name === "signalExternalWorkflowExecutionInitiatedEventAttributes"
          )!;
        const { input } = sent.value as {
          input: { payloads: { metadata: object; data: Uint8Array }[] };
        };
        deepEqual(
          input.payloads.map((payload) => jsonPayloadConverter.fromPayload(payload as never)),
          ["sent out"],
        );
        run.server.signal("told", "b");
        const updated = run.server.update("u-1", "add", "c");
        await run.task();
        equal(run.failure, "");
        deepEqual(updated.result, "added out");
        deepEqual(run.server.closed?.result, "in ada, in b, in c out");
      }),
  },
  {
    name:
      "types of values: those of activities, children and the next run convert what is sent and what comes back",
    run: () =>
      withProgram({
        "/app/main.ts": `${IMPORTS}
          const type = { transferTypeConverter: { fromTransferType: (v: any) => "in " + v, toTransferType: (v: any) => v + " out" } };
          const typeInfo = { inputTypes: [type], outputType: type };
          const { work } = wf.proxyActivities<any>({ startToCloseTimeout: "1 minute", activityTypeInfo: { work: typeInfo } });
          export async function kid(name: string) { return name; }
          wf.defineWorkflowOptions(kid, { staticOptions: { typeInfo } });
          export async function w(name: string): Promise<unknown> {
            if (name !== "in ada") return name;
            const got = [await work("a", "plain"), await work.executeWithOptions({ summary: "other" }, ["b"])];
            got.push(await wf.executeChild("other", { workflowId: "child-1", args: ["c"], typeInfo }));
            got.push(await wf.executeChild(kid, { workflowId: "child-2", args: ["d"] }));
            const both = wf.executeChild(kid, { args: ["e"], typeInfo } as any).catch((error) => error.message);
            return await wf.continueAsNew<typeof w>([...got, await both].join(", "));
          }
          wf.defineWorkflowOptions(w, { staticOptions: { typeInfo } });`,
      }, async (h) => {
        const run = h.start("w", { args: ["ada"] });
        const { server } = run;
        const sent = (): unknown[] => {
          for (const { attributes } of server.events.toReversed()) {
            const { input } = (attributes.value ?? {}) as { input?: { payloads: object[] } };
            if (input !== undefined) {
              return input.payloads.map((payload) =>
                jsonPayloadConverter.fromPayload(payload as never)
              );
            }
          }
          return [];
        };
        await run.task();
        deepEqual(sent(), ["a out", "plain"]);
        server.completeActivity("1", "one");
        await run.task();
        deepEqual(sent(), ["b out"]);
        server.completeActivity("2", "two");
        await run.task();
        for (
          const [child, given, result] of [["child-1", "c out", "three"], [
            "child-2",
            "d out",
            "four",
          ]] as const
        ) {
          deepEqual(sent(), [given]);
          server.others.start(child);
          server.others.complete(child, result);
          await run.task();
          equal(run.failure, "");
        }
        const message =
          "Workflow type information cannot be supplied at the call site when using a workflow function. " +
          "Use defineWorkflowOptions(..., { staticOptions: { typeInfo } }) on the workflow function instead, or pass the workflow type as a string.";
        deepEqual(sent(), [`in one, in two, in three, in four, ${message} out`]);
      }),
  },
  {
    name:
      "failures: causes that are not failures have no type, those that are not errors are marked",
    run: () =>
      withProgram({
        "/app/main.ts": `${IMPORTS}
          const deep = () => Object.assign(new RangeError("range"), { cause: new TypeError("type") });
          export async function w() {
            wf.setHandler(wf.defineUpdate("fails"), async () => {
              throw wf.ApplicationFailure.create({ message: "no", type: "No", cause: deep() });
            });
            await wf.sleep(5);
            const top = wf.ApplicationFailure.create({ message: "top", type: "Top", cause: deep() });
            Object.assign(top.cause!.cause!, { cause: "a text" });
            throw top;
          }`,
      }, async (h) => {
        const run = h.start("w");
        await run.task();
        const updated = run.server.update("u-1", "fails");
        await run.task();
        deepEqual(chainOf(updated.failure), ["no applicationFailureInfo No", "range ", "type "]);
        await run.auto();
        const text = "a text [A non-Error value was thrown from your code. " +
          "We recommend throwing Error objects so that we can provide a stack trace] ";
        deepEqual(chainOf(run.server.closed?.failure), [
          "top applicationFailureInfo Top",
          "range ",
          "type ",
          text,
        ]);
      }),
  },
  {
    name:
      "failures: details that cannot be converted fail the task, of a workflow and of an update",
    run: () =>
      withProgram({
        "/app/main.ts": `${IMPORTS}
          const bad = () => wf.ApplicationFailure.create({ message: "bad", type: "Bad", nonRetryable: true, details: [10n] });
          export async function w() { throw bad(); }
          export async function updated() {
            wf.setHandler(wf.defineUpdate("fails"), async () => { throw bad(); });
            wf.setHandler(wf.defineUpdate("refuses"), () => 1, { validator: () => { throw bad(); } });
            await wf.sleep(5);
          }`,
      }, async (h) => {
        const failed = h.start("w");
        await failed.task();
        equal(failed.failure, "Unable to convert 10 to payload");
        equal(failed.server.closed, undefined);
        const run = h.start("updated");
        await run.task();
        // A rejection is in no history: the caller gets what can be read of it.
        const refused = run.server.update("u-1", "refuses");
        await run.task();
        equal(refused.failure?.message.startsWith("bad"), true);
        const update = run.server.update("u-2", "fails");
        await run.task();
        equal(run.failure, "Unable to convert 10 to payload");
        equal(update.failure, undefined);
      }),
  },
];

/** Message, kind and type of a failure and of each of its causes. */
function chainOf(failure: Failure | undefined): string[] {
  if (failure === undefined) return [];
  const { case: kind, value } = failure.failureInfo;
  return [
    `${failure.message} ${
      kind === "applicationFailureInfo" ? `${kind} ${value.type}` : kind ?? ""
    }`,
    ...chainOf(failure.cause),
  ];
}
