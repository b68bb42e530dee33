// Types of values of programs of `@temporalio/workflow`: what is sent and what is received goes through their functions.
import { jsonPayloadConverter } from "../../ts/converter/payload.ts";
import { deepEqual, equal } from "./assert.ts";
import type { Case } from "./case.ts";
import { IMPORTS, withProgram } from "./temporal_program_support.ts";

export const cases: Case[] = [
  {
    name: "types of values: those of signals, queries, updates and workflows convert what is received and what is sent",
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
          .find(({ case: name }) => name === "signalExternalWorkflowExecutionInitiatedEventAttributes")!;
        const { input } = sent.value as { input: { payloads: { metadata: object; data: Uint8Array }[] } };
        deepEqual(input.payloads.map((payload) => jsonPayloadConverter.fromPayload(payload as never)), ["sent out"]);
        run.server.signal("told", "b");
        const updated = run.server.update("u-1", "add", "c");
        await run.task();
        equal(run.failure, "");
        deepEqual(updated.result, "added out");
        deepEqual(run.server.closed?.result, "in ada, in b, in c out");
      }),
  },
  {
    name: "types of values: those of activities, children and the next run convert what is sent and what comes back",
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
            if (input !== undefined) return input.payloads.map((payload) => jsonPayloadConverter.fromPayload(payload as never));
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
        for (const [child, given, result] of [["child-1", "c out", "three"], ["child-2", "d out", "four"]] as const) {
          deepEqual(sent(), [given]);
          server.others.start(child);
          server.others.complete(child, result);
          await run.task();
          equal(run.failure, "");
        }
        const message = "Workflow type information cannot be supplied at the call site when using a workflow function. " +
          "Use defineWorkflowOptions(..., { staticOptions: { typeInfo } }) on the workflow function instead, or pass the workflow type as a string.";
        deepEqual(sent(), [`in one, in two, in three, in four, ${message} out`]);
      }),
  },
];
