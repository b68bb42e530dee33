// Nexus operations in programs of `@temporalio/workflow`: what a call sends, what comes back, and
// what interceptors see of it. All outcomes of operations, as a server reports them:
// tests/unit/compat/programs/nexus.ts and tests/system/interop/nexus_callers.test.ts.
import { jsonPayloadConverter } from "../../ts/converter/payload.ts";
import { deepEqual, equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { IMPORTS, one, withProgram } from "./temporal_program_support.ts";

const payload = (value: unknown) => jsonPayloadConverter.toPayload(value);

const SERVICE = `
const days = { transferTypeConverter: { toTransferType: (n: number) => ({ days: n }), fromTransferType: (v: any) => v.days * 24 } };
const desk = { name: "desk", operations: {
  ask: { name: "ask-it" }, plan: { name: "plan", inputType: days, outputType: days }, lasts: { name: "lasts" },
} } as any;
const client = wf.createNexusServiceClient<any>({ endpoint: "front", service: desk });
`;

const CALLS = `${IMPORTS}${SERVICE}
export async function w() {
  const started = await client.startOperation("lasts", undefined, {
    scheduleToCloseTimeout: "1 minute", scheduleToStartTimeout: 2500, startToCloseTimeout: "3s", summary: "as long as it takes",
  });
  const { service, operation, token } = started;
  const planned = await client.executeOperation(desk.operations.plan, 7);
  return [service, operation, token, planned, await started.result(), await client.executeOperation("ask", { deep: [1] })];
}`;

/** A failure as the server writes it for an operation whose handler refused. */
const REFUSED = {
  message: "nexus operation completed unsuccessfully",
  failureInfo: {
    case: "nexusOperationExecutionFailureInfo",
    value: {
      scheduledEventId: 5n,
      endpoint: "front",
      service: "desk",
      operation: "ask-it",
      operationToken: "",
    },
  },
  cause: {
    message: "not so",
    failureInfo: {
      case: "nexusHandlerFailureInfo",
      value: { type: "BAD_REQUEST", retryBehavior: 1 },
    },
    cause: {
      message: "deep",
      failureInfo: { case: "applicationFailureInfo", value: { type: "Deep", nonRetryable: true } },
    },
  },
};

/** As nexus-rpc marks its errors. */
const REFUSALS = `${IMPORTS}${SERVICE}
const mark = Symbol.for("__nexus_isHandlerError");
export async function w(thrown: string) {
  try { return await client.executeOperation("ask", 1); }
  catch (error: any) {
    const { cause } = error;
    if (thrown === "operation") throw error;
    if (thrown === "handler") throw wf.ApplicationFailure.create({ message: "wrapped", cause });
    return [
      error instanceof wf.TemporalFailure, error.name, error.endpoint, error.service, error.operation, error.operationToken,
      cause[mark], cause.name, cause.message, cause.type, cause.retryable, cause.retryableOverride,
      cause.originalFailure.metadata.type, cause.cause instanceof wf.ApplicationFailure, wf.rootCause(error),
    ];
  }
}`;

const INTERCEPTED = {
  "/app/main.ts":
    `${IMPORTS}${SERVICE}export async function w() { return await client.executeOperation("ask", 1); }`,
  "/app/around.ts": `${IMPORTS}export const interceptors = () => ({ outbound: [{
    async startNexusOperation(input: any, next: any) {
      const { endpoint, service, operation, seq, headers, options } = input;
      const seen = JSON.stringify([endpoint, service, operation, seq, headers, options]);
      const { token, result } = await next({ ...input, input: seen, headers: { trace: "t-1" }, operation: "other" });
      return { token, result: result.then((value: string) => value + " through " + token) };
    },
  }] });`,
};

export const cases: Case[] = [
  {
    name: "temporal programs: what a call of a Nexus operation sends, and what it gives",
    run: () =>
      withProgram({ "/app/main.ts": CALLS }, async (h) => {
        const run = h.start("w");
        await run.task();
        const { nexus } = run.server;
        const { command, summary } = nexus.all.get("lasts")!;
        deepEqual([command["endpoint"], command["service"], command["nexusHeader"]], [
          "front",
          "desk",
          {},
        ]);
        const seconds = (name: string) => {
          const { seconds, nanos } = command[name] as { seconds: bigint; nanos: number };
          return Number(seconds) + nanos / 1e9;
        };
        deepEqual(
          ["scheduleToCloseTimeout", "scheduleToStartTimeout", "startToCloseTimeout"].map(seconds),
          [60, 2.5, 3],
        );
        equal(jsonPayloadConverter.fromPayload(summary!), "as long as it takes");
        nexus.started("lasts", "t-7");
        await run.task();
        equal(
          JSON.stringify(
            jsonPayloadConverter.fromPayload(nexus.all.get("plan")!.command["input"] as never),
          ),
          '{"days":7}',
        );
        nexus.completed("plan", payload({ days: 2 }));
        nexus.completed("lasts", undefined);
        await run.task();
        nexus.completed("ask-it", payload("done"));
        await run.task();
        equal(run.failure, "");
        deepEqual(run.server.closed!.result, ["desk", "lasts", "t-7", 48, null, "done"]);
      }),
  },
  {
    name: "temporal programs: the failure of a Nexus operation, read and written as it came",
    run: () =>
      withProgram({ "/app/main.ts": REFUSALS }, async (h) => {
        const ends = [];
        for (const thrown of ["", "operation", "handler"]) {
          const run = h.start("w", { args: [thrown] });
          await run.task();
          run.server.nexus.failed("ask-it", REFUSED);
          await run.task();
          equal(run.failure, "");
          ends.push(run.server);
        }
        deepEqual(ends[0]!.closed!.result, [
          ...[true, "NexusOperationFailure", "front", "desk", "ask-it", ""],
          ...[true, "HandlerError", "not so", "BAD_REQUEST", true, true],
          ...["temporal.api.failure.v1.Failure", true, "not so"],
        ]);
        for (const server of ends.slice(1)) {
          const { attributes } = server.events.at(-1)!;
          equal(attributes.case, "workflowExecutionFailedEventAttributes");
          const { failure } = attributes.value as { failure: { cause: typeof REFUSED.cause } };
          const { message, failureInfo, cause } = failure.cause;
          equal(message, "not so");
          equal(failureInfo.case, "nexusHandlerFailureInfo");
          deepEqual([failureInfo.value.type, failureInfo.value.retryBehavior, cause.message], [
            "BAD_REQUEST",
            1,
            "deep",
          ]);
        }
      }),
  },
  {
    name: "temporal programs: interceptors are around Nexus operations, and their headers are sent",
    run: () =>
      withProgram(INTERCEPTED, async (h) => {
        const run = h.start("w");
        await run.task();
        const { command } = run.server.nexus.all.get("other")!;
        deepEqual(command["nexusHeader"], { trace: "t-1" });
        equal(
          jsonPayloadConverter.fromPayload(command["input"] as never),
          '["front","desk","ask-it",1,{},{"cancellationType":"WAIT_CANCELLATION_COMPLETED"}]',
        );
        run.server.nexus.started("other", "t-9");
        await run.task();
        run.server.nexus.completed("other", payload("answer"));
        await run.task();
        equal(run.server.closed?.result, "answer through t-9");
      }, { interceptors: ["/app/around.ts"] }),
  },
  {
    name: "temporal programs: a call of a Nexus operation with what is not there is refused",
    run: () =>
      withProgram(
        one(`${SERVICE}
export const grouped = () => client.executeOperation("ask", 1, { eventGroups: [{}] as never }).catch(String);
export async function wrong() { try { await client.executeOperation("ask", 1, { cancellationType: "NEVER" as never }); } catch (e) { throw wf.ApplicationFailure.create({ message: String(e) }); } }`),
        async (h) => {
          const strange = h.start("grouped");
          await strange.task();
          match(
            String(strange.server.closed?.result),
            /Error: Directly attached Event Group Markers must be instances of/,
          );
          const run = h.start("wrong");
          await run.task();
          match(JSON.stringify(run.server.closed), /Invalid NexusOperationCancellationType: NEVER/);
        },
      ),
  },
];
