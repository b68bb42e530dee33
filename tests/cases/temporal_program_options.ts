// Options of `@temporalio/workflow` programs: a misspelled name is rejected, other names are
// ignored as in the official SDK.
import { deepEqual } from "./assert.ts";
import type { Case } from "./case.ts";
import { one, resultOf, withProgram } from "./temporal_program_support.ts";

export const cases: Case[] = [
  {
    name: "temporal programs: a misspelled option is rejected, with the name that is meant",
    run: () =>
      withProgram(
        one(`export async function misspelled() {
          const seen: string[] = [];
          const attempt = async (call: () => unknown) => {
            try { await call(); seen.push("accepted"); } catch (e: any) { seen.push(e.name + ": " + e.message); }
          };
          const any = (options: object): any => options;
          await attempt(() => wf.proxyActivities(any({ startToCloseTimeOut: "1s" })));
          await attempt(() => wf.proxyActivities(any({ startToClose: "1s" })));
          await attempt(() => wf.proxyActivities<any>({ startToCloseTimeout: "1s", retry: any({ maxAttempts: 1 }) }).f());
          await attempt(() => wf.proxyActivities(any({ startToCloseTimeout: "1s", retryPolicy: { maximumAttempts: 1 } })));
          await attempt(() => wf.proxyActivities<any>({ startToCloseTimeout: "1s" }).f.executeWithOptions(any({ heartBeatTimeout: 1 }), []));
          await attempt(() => wf.proxyLocalActivities(any({ startToCloseTimeout: "1s", localRetryTreshold: 1 })));
          await attempt(() => wf.executeChild("W", any({ parentClosingPolicy: "ABANDON" })));
          await attempt(() => wf.makeContinueAsNewFunc(any({ workflowTyp: "x" })));
          await attempt(() => wf.sleep(1, any({ sumary: "x" })));
          await attempt(() => wf.setHandler(wf.defineUpdate("u"), () => {}, any({ validate: () => {} })));
          await attempt(() => { throw wf.ApplicationFailure.create(any({ message: "x", nonRetriable: true })); });
          return seen;
        }`),
        async (h) =>
          deepEqual(await resultOf(h, "misspelled"), [
            'TypeError: proxyActivities has no option "startToCloseTimeOut"; did you mean startToCloseTimeout?',
            'TypeError: proxyActivities has no option "startToClose"; did you mean startToCloseTimeout?',
            'TypeError: retry has no option "maxAttempts"; did you mean maximumAttempts?',
            'TypeError: proxyActivities has no option "retryPolicy"; did you mean retry?',
            'TypeError: proxyActivities has no option "heartBeatTimeout"; did you mean heartbeatTimeout?',
            'TypeError: proxyLocalActivities has no option "localRetryTreshold"; did you mean localRetryThreshold?',
            'TypeError: a child workflow has no option "parentClosingPolicy"; did you mean parentClosePolicy?',
            'TypeError: makeContinueAsNewFunc has no option "workflowTyp"; did you mean workflowType?',
            'TypeError: sleep has no option "sumary"; did you mean summary?',
            'TypeError: setHandler has no option "validate"; did you mean validator?',
            'TypeError: ApplicationFailure.create has no option "nonRetriable"; did you mean nonRetryable?',
          ]),
      ),
  },
  {
    name:
      "temporal programs: other fields are ignored, and so is a near name next to the option itself",
    run: () =>
      withProgram(
        one(`export async function extra() {
          const options: any = { startToCloseTimeout: "1s", type: "payments", owner: "team", maxAttempts: 3, timeout: 5, taskQueues: ["a"], taskQueue: "q" };
          wf.proxyActivities(options);
          wf.proxyLocalActivities({ startToCloseTimeout: "1s", type: "x" } as any);
          await wf.sleep(1, { label: "x" } as any);
          return wf.ApplicationFailure.create({ message: "x", code: 5, typ: "t", type: "T" } as any).type;
        }`),
        async (h) => deepEqual(await resultOf(h, "extra"), "T"),
      ),
  },
];
