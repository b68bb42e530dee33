// Nexus operations of native workflows (docs/dev/semantics/commands.md#nexus-operations): what a
// call sends, what comes back, handles, cancellation by type, and what is refused. On a real
// server: tests/system/interop/nexus_callers.test.ts.
import { jsonPayloadConverter } from "../../ts/converter/payload.ts";
import {
  ApplicationFailure,
  isCancellation,
  nexus,
  NexusHandlerFailure,
  NexusOperationFailure,
  type NexusOptions,
  parallel,
  shield,
  sleep,
  workflow,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

const payload = (value: unknown) => jsonPayloadConverter.toPayload(value);
const describeError = (e: unknown) => `${(e as Error).name}: ${(e as Error).message}`;
const chain = (e: unknown): string[] =>
  e instanceof Error ? [describeError(e), ...chain(e.cause)] : [];

interface Desk {
  ask(question: { deep: number[] }): string;
  lasts(): string;
}
const desk = nexus<Desk>("desk", { endpoint: "front", scheduleToClose: "1 minute" });

/** As nexus-rpc makes it: separate names on the wire, values that are serialized differently. */
const DEFINED = {
  name: "defined",
  operations: {
    plan: {
      name: "plan-it",
      inputType: {
        transferTypeConverter: {
          toTransferType: (n: number) => ({ days: n }),
          fromTransferType: () => 0,
        },
      },
      outputType: {
        transferTypeConverter: {
          toTransferType: () => 0,
          fromTransferType: (v: unknown) => (v as { days: number }).days * 24,
        },
      },
    },
  },
};

/** As a server writes it. */
const failureOf = (message: string, cause: object) => ({
  message: "nexus operation completed unsuccessfully",
  failureInfo: {
    case: "nexusOperationExecutionFailureInfo",
    value: {
      scheduledEventId: 5n,
      endpoint: "front",
      service: "desk",
      operation: "lasts",
      operationToken: "t-1",
    },
  },
  cause: { message, ...cause },
});
const CANCELED = failureOf("canceled by the handler", {
  failureInfo: { case: "canceledFailureInfo", value: {} },
});

const seconds = (command: { readonly [field: string]: unknown }, name: string) => {
  const { seconds, nanos } = command[name] as { seconds: bigint; nanos: number };
  return Number(seconds) + nanos / 1e9;
};

export const cases: Case[] = [
  {
    name: "nexus: a call sends its input and returns the result",
    async run() {
      const w = workflow("W", async () => [
        await desk.ask.with({
          ...{ scheduleToStart: 2500, startToClose: "3s", summary: "a question" },
          ...{ headers: { trace: "t" }, cancellationType: "abandon" as const },
        })({ deep: [1] }),
        await nexus(DEFINED, { endpoint: "back" }).plan(7),
      ]);
      const d = await drive(w);
      await d.task();
      deepEqual(d.commands(), ["SCHEDULE_NEXUS_OPERATION 1"]);
      const { command, summary } = d.server.nexus.all.get("ask")!;
      deepEqual([command["endpoint"], command["service"], command["nexusHeader"]], [
        "front",
        "desk",
        { trace: "t" },
      ]);
      deepEqual(
        ["scheduleToCloseTimeout", "scheduleToStartTimeout", "startToCloseTimeout"].map((n) =>
          seconds(command, n)
        ),
        [
          ...[60, 2.5, 3],
        ],
      );
      deepEqual(jsonPayloadConverter.fromPayload(command["input"] as never), { deep: [1] });
      equal(jsonPayloadConverter.fromPayload(summary!), "a question");
      d.server.nexus.completed("ask", payload("a response"));
      await d.task();
      const plan = d.server.nexus.all.get("plan-it")!;
      deepEqual([plan.command["endpoint"], plan.command["service"]], ["back", "defined"]);
      deepEqual(jsonPayloadConverter.fromPayload(plan.command["input"] as never), { days: 7 });
      d.server.nexus.completed("plan-it", payload({ days: 2 }));
      await d.task();
      deepEqual(await d.finish(), ["a response", 48]);
    },
  },
  {
    name: "nexus: start returns a handle; result() can be called late and repeatedly",
    async run() {
      const w = workflow("W", async () => {
        const handle = await desk.lasts.start();
        await sleep(1);
        return [
          handle.service,
          handle.operation,
          handle.token,
          await handle.result(),
          await handle.result(),
        ];
      });
      const d = await drive(w);
      await d.task();
      d.server.nexus.started("lasts", "t-7");
      await d.task();
      d.server.nexus.completed("lasts", payload("done"));
      await d.task();
      d.server.fireTimer("1");
      await d.task();
      deepEqual(await d.finish(), ["desk", "lasts", "t-7", "done", "done"]);
    },
  },
  {
    name: "nexus: a failed operation rejects with the handler's error, which can fail the workflow",
    async run() {
      const w = workflow("W", async (rethrow: boolean) => {
        try {
          return await desk.lasts();
        } catch (error) {
          if (rethrow) throw error;
          ok(error instanceof NexusOperationFailure && error.cause instanceof NexusHandlerFailure);
          const { endpoint, service, operation, operationToken, cause } = error;
          return [
            endpoint,
            service,
            operation,
            operationToken,
            cause.type,
            cause.retryable,
            ...chain(cause.cause),
          ];
        }
      });
      const refused = failureOf("not so", {
        failureInfo: {
          case: "nexusHandlerFailureInfo",
          value: { type: "BAD_REQUEST", retryBehavior: 2 },
        },
        cause: {
          message: "deep",
          failureInfo: {
            case: "applicationFailureInfo",
            value: { type: "Deep", nonRetryable: true },
          },
        },
      });
      for (const rethrow of [false, true]) {
        const d = await drive(w, { args: [rethrow] });
        await d.task();
        d.server.nexus.failed("lasts", refused);
        await d.task();
        if (!rethrow) {
          deepEqual(await d.finish(), [
            "front",
            "desk",
            "lasts",
            "t-1",
            "BAD_REQUEST",
            false,
            "ApplicationFailure: deep",
          ]);
          continue;
        }
        await d.checkReplay();
        const { failureInfo, cause } = d.server.closed!.failure!;
        equal(failureInfo.case, "nexusOperationExecutionFailureInfo");
        ok(cause?.failureInfo.case === "nexusHandlerFailureInfo");
        deepEqual([cause.failureInfo.value.type, cause.failureInfo.value.retryBehavior], [
          "BAD_REQUEST",
          2,
        ]);
      }
    },
  },
  {
    name: "nexus: failures constructed in code are encoded like those of operations",
    async run() {
      const cause = new NexusHandlerFailure("busy", { type: "UNAVAILABLE", retryable: true });
      const fields = { endpoint: "e", service: "s", operation: "o", operationToken: "t" };
      const d = await drive(workflow("W", () => {
        throw new NexusOperationFailure("it failed", fields, { cause });
      }));
      await d.task();
      await d.checkReplay();
      const { failureInfo, cause: written } = d.server.closed!.failure!;
      ok(
        failureInfo.case === "nexusOperationExecutionFailureInfo" &&
          written?.failureInfo.case === "nexusHandlerFailureInfo",
      );
      const { endpoint, service, operation, operationToken } = failureInfo.value;
      deepEqual({ endpoint, service, operation, operationToken }, fields);
      deepEqual([written.failureInfo.value.type, written.failureInfo.value.retryBehavior], [
        "UNAVAILABLE",
        1,
      ]);
    },
  },
  {
    name:
      "nexus: a canceled workflow requests cancellation of its operation and waits for any outcome",
    async run() {
      const w = workflow("W", async () => {
        try {
          return await desk.lasts();
        } catch (error) {
          return [isCancellation(error), ...chain(error)];
        }
      });
      for (const ends of ["canceled", "well"]) {
        const d = await drive(w);
        await d.task();
        d.server.nexus.started("lasts", "t-1");
        d.server.requestCancel();
        await d.task();
        deepEqual(d.commands(), ["CANCEL SCHEDULE_NEXUS_OPERATION 1"]);
        ok(d.server.nexus.all.get("lasts")!.cancelRequested);
        equal(d.server.closed, undefined);
        d.server.nexus.cancelDelivered("lasts");
        await d.task();
        equal(d.server.closed, undefined);
        if (ends === "well") d.server.nexus.completed("lasts", payload("anyway"));
        else d.server.nexus.canceled("lasts", CANCELED);
        await d.task();
        const result = await d.finish();
        if (ends === "well") equal(result, "anyway");
        else {
          deepEqual(result, [
            ...[true, "NexusOperationFailure: nexus operation completed unsuccessfully"],
            "CancelledFailure: canceled by the handler",
          ]);
        }
      }
    },
  },
  {
    name: "nexus: waitCancellationRequested waits until the handler has the request",
    async run() {
      const d = await drive(
        workflow(
          "W",
          () => desk.lasts.with({ cancellationType: "waitCancellationRequested" })().catch(chain),
        ),
      );
      await d.task();
      d.server.nexus.started("lasts", "t-1");
      d.server.requestCancel();
      await d.task();
      equal(d.server.closed, undefined);
      d.server.nexus.cancelDelivered("lasts");
      await d.task();
      match(String(await d.finish()), /^NexusOperationFailure: .*CancelledFailure: /);
    },
  },
  ...(["tryCancel", "abandon"] as const).flatMap((cancellationType) =>
    [false, true].map((started): Case => ({
      name: `nexus: ${cancellationType} rejects at once, ${started ? "after" : "before"} the start`,
      async run() {
        const w = workflow("W", async () => {
          const seen = await desk.lasts.with({ cancellationType })().catch((
            e,
          ) => [isCancellation(e), ...chain(e)]);
          await shield(() => sleep(1)); // what the operation says later is ignored
          return seen;
        });
        const d = await drive(w);
        await d.task();
        if (started) {
          d.server.nexus.started("lasts", "t-1");
          await d.task();
        }
        d.server.requestCancel();
        await d.task();
        equal(d.server.nexus.all.get("lasts")!.cancelRequested, cancellationType === "tryCancel");
        if (!started) d.server.nexus.started("lasts", "t-1");
        d.server.nexus.completed("lasts", payload("too late"));
        d.server.fireTimer([...d.server.timers.keys()][0]!);
        await d.task();
        const seen = await d.finish() as unknown[];
        deepEqual(seen.slice(0, 2), [true, "NexusOperationFailure: Nexus operation cancelled"]);
        match(String(seen[2]), /^CancelledFailure/);
      },
    }))
  ),
  {
    name: "nexus: handle.cancel requests cancellation once",
    async run() {
      const w = workflow("W", async () => {
        const handle = await desk.lasts.start();
        handle.cancel();
        handle.cancel();
        return await handle.result().catch(chain);
      });
      const d = await drive(w);
      await d.task();
      d.server.nexus.started("lasts", "t-1");
      await d.task();
      deepEqual(d.commands(), ["CANCEL SCHEDULE_NEXUS_OPERATION 1"]);
      d.server.nexus.cancelDelivered("lasts");
      d.server.nexus.canceled("lasts", CANCELED);
      await d.task();
      match(String(await d.finish()), /CancelledFailure: canceled by the handler$/);
    },
  },
  {
    name: "nexus: an operation in a shield continues while the workflow is canceled",
    async run() {
      const w = workflow("W", () => shield(() => desk.lasts()));
      const d = await drive(w);
      await d.task();
      d.server.requestCancel();
      await d.task();
      equal(d.server.nexus.all.get("lasts")!.cancelRequested, false);
      d.server.nexus.completed("lasts", payload("done"));
      await d.task();
      equal(await d.finish(), "done");
    },
  },
  {
    name:
      "nexus: operations that are not awaited are canceled with the workflow; one canceled in its task is not sent",
    async run() {
      const waits = workflow("W", async () => {
        const handle = await desk.lasts.start();
        await sleep(1000).catch(() => {});
        return await shield(() => sleep(1)).then(() => handle.token);
      });
      const d = await drive(waits);
      await d.task();
      d.server.nexus.started("lasts", "t-1");
      await d.task();
      d.server.requestCancel();
      await d.task();
      ok(d.server.nexus.all.get("lasts")!.cancelRequested);
      d.server.fireTimer([...d.server.timers.keys()][0]!);
      await d.task();
      equal(await d.finish(), "t-1");
      const never = await drive(workflow("N", async () => {
        const [asked] = await parallel([() => desk.lasts()]);
        return asked.ok ? asked.value : chain(asked.error);
      }));
      never.server.requestCancel();
      await never.task();
      equal(never.server.nexus.all.size, 0);
      equal(never.server.closed !== undefined, true);
      await never.checkReplay();
    },
  },
  {
    name: "nexus: invalid services and operations are rejected by name",
    async run() {
      const bad = (call: () => unknown): string => {
        try {
          call();
          return "no error";
        } catch (e) {
          return describeError(e);
        }
      };
      const w = workflow("W", () =>
        Promise.resolve([
          bad(() => nexus("", { endpoint: "e" })),
          bad(() => nexus("s", {} as NexusOptions)),
          bad(() => nexus("s", { endpoint: "e", timeout: 1 } as NexusOptions)),
          bad(() => nexus("s", { endpoint: "e", cancellationType: "NEVER" as "abandon" })),
          bad(() => nexus("s", { endpoint: "e", headers: { a: 1 } as never })),
          bad(() => (nexus(DEFINED, { endpoint: "e" }) as { [name: string]: unknown })["other"]),
          bad(() => (desk.ask as (...args: unknown[]) => unknown)(1, 2)),
        ]).then((seen) => {
          throw ApplicationFailure.nonRetryable(seen.join("\n"));
        }));
      const d = await drive(w);
      await d.task();
      deepEqual(d.server.closed!.failure!.message.split("\n"), [
        'TypeError: nexus needs the name of a service, or a nexus-rpc service, not ""',
        "TypeError: nexus: endpoint must be the name of a Nexus endpoint of the cluster, not undefined",
        'TypeError: nexus has no option "timeout"; known options: endpoint, scheduleToClose, scheduleToStart, startToClose, cancellationType, headers, summary',
        "TypeError: cancellationType must be one of waitCancellationCompleted, waitCancellationRequested, tryCancel, abandon, " +
        'not "NEVER"',
        "TypeError: nexus: headers must be an object that maps names to strings",
        'TypeError: the Nexus service "defined" has no operation "other"; it has plan',
        'TypeError: Nexus operation "ask" needs one input, not 2: pass an object or an array',
      ]);
    },
  },
];
