// Nexus in `temporalex dev`: the same raw sessions and the same commands of Temporal's command line
// as on Temporal's development server, histories compared event by event.
// runtime: node
// takes: 30 s
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { toJson } from "@bufbuild/protobuf";
import {
  type HistoryEvent,
  HistoryEventSchema,
} from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import {
  type Command,
  complete,
  encoded,
  nameOf,
  RawNexusSession,
  schedule,
} from "../../support/nexus_session.ts";
import { freePort } from "../../support/ports.ts";
import { until } from "../../support/until.ts";
import { BothServers } from "./support/both_servers.ts";
import { noServer, temporalCli } from "./support/dev_server.ts";
import { OurServer } from "./support/our_server.ts";

const skip = noServer;
const run = promisify(execFile);
// deno-lint-ignore no-explicit-any
type Any = any;

let both: BothServers;

before(async () => {
  if (skip !== false) return;
  // Servers after 1.29 have no such setting: links to attached requests name the request.
  both = await BothServers.start(["history.enableRequestIdRefLinks=true"]);
});

after(async () => await both?.close());

const cli = async (address: string, ...args: string[]): Promise<string> => {
  const all = [
    "operator",
    "nexus",
    "endpoint",
    ...args,
    "--address",
    address,
    "-o",
    "json",
  ];
  try {
    return (await run(temporalCli()!, all)).stdout;
  } catch (error) {
    return (error as { stderr: string }).stderr.trim();
  }
};

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
/** What differs by run, and what only a server has. */
const OWN = new Set([
  ...[
    "eventTime",
    "taskId",
    "version",
    "createdTime",
    "lastModifiedTime",
    "urlPrefix",
  ],
  "historySizeBytes",
]);

function normalized(value: unknown): unknown {
  const text = JSON.stringify(value, (key, each) => {
    if (OWN.has(key)) return undefined;
    // Where callbacks go differs, and so do their tokens.
    if (key === "attachedCompletionCallbacks") {
      return each.map(({ links }: Any) => links);
    }
    return key === "completionCallbacks" ? "callbacks" : each;
  });
  return JSON.parse(text.replace(UUID, "<id>"));
}

test(
  "the command line has the same results for endpoints",
  { skip },
  async () => {
    const target = [
      "--target-namespace",
      "default",
      "--target-task-queue",
      "handlers",
    ];
    const results = await Promise.all(both.addresses.map(async (address) => {
      const outputs: string[] = [];
      const call = async (...args: string[]) => void outputs.push(await cli(address, ...args));
      await call("create", "--name", "billing", ...target);
      await call("create", "--name", "billing", ...target);
      await call(
        "create",
        "--name",
        "other",
        ...target,
        "--description",
        "about it",
      );
      await call("create", "--name", "no good", ...target);
      await call(
        "create",
        "--name",
        "nowhere",
        "--target-namespace",
        "absent",
        "--target-task-queue",
        "q",
      );
      await call(
        "update",
        "--name",
        "other",
        "--target-task-queue",
        "elsewhere",
      );
      await call("get", "--name", "other");
      await call("get", "--name", "absent");
      await call("delete", "--name", "other");
      await call("delete", "--name", "other");
      await call("list");
      return outputs.map((output) => {
        try {
          return normalized(JSON.parse(output));
        } catch {
          return output.replace(UUID, "<id>").replace(/time=\S+ /, "");
        }
      });
    }));
    assert.deepEqual(results[1], results[0]);
  },
);

/** Runs a session on both servers and compares the histories of the caller. */
async function compared(
  name: string,
  timeouts: object,
  body: (
    session: RawNexusSession,
    names: { caller: string; handler: string },
  ) => Promise<void>,
): Promise<void> {
  const histories = await Promise.all(both.services.map(async (service) => {
    const session = new RawNexusSession(service, "default");
    const names = { caller: `${name}-caller`, handler: `${name}-handler` };
    await session.start(names.caller);
    await session.task([schedule(timeouts)]);
    await body(session, names);
    const found: unknown[] = [];
    for (const id of Object.values(names)) {
      const events = await session.events(id).catch(() => []);
      found.push(
        events.map((event: HistoryEvent) => normalized(toJson(HistoryEventSchema, event))),
      );
    }
    await session.call("terminateWorkflowExecution", {
      workflowExecution: { workflowId: names.caller },
    }).catch(() => undefined);
    return found;
  }));
  assert.deepEqual(histories[1], histories[0]);
}

const sync = {
  variant: {
    case: "syncSuccess" as const,
    value: { payload: encoded("paid") },
  },
};
const async = {
  variant: {
    case: "asyncSuccess" as const,
    value: { operationToken: "token" },
  },
};

test(
  "a synchronous operation",
  { skip },
  () =>
    compared("sync", {}, async (session, { caller }) => {
      await session.respond((await session.request()).token, sync);
      await session.until("NEXUS_OPERATION_COMPLETED", caller);
      await session.task();
    }),
);

for (const operationState of ["failed", "canceled"]) {
  test(
    `an operation that ${operationState}`,
    { skip },
    () =>
      compared(operationState, {}, async (session, { caller }) => {
        await session.respond((await session.request()).token, {
          variant: {
            case: "operationError",
            value: {
              operationState,
              failure: { message: "no money", metadata: { a: "b" } },
            },
          },
        });
        await session.until(
          `NEXUS_OPERATION_${operationState.toUpperCase()}`,
          caller,
        );
        await session.task();
      }),
  );
}

test(
  "a handler error that is final",
  { skip },
  () =>
    compared("rejected", {}, async (session, { caller }) => {
      await session.call("respondNexusTaskFailed", {
        taskToken: (await session.request()).token,
        error: { errorType: "BAD_REQUEST", failure: { message: "not so" } },
      });
      await session.until("NEXUS_OPERATION_FAILED", caller);
      await session.task();
    }),
);

test(
  "a handler error that is retried",
  { skip },
  () =>
    compared("retried", {}, async (session, { caller }) => {
      await session.call("respondNexusTaskFailed", {
        taskToken: (await session.request()).token,
        error: { errorType: "INTERNAL", failure: { message: "later" } },
      });
      await session.respond((await session.request()).token, sync);
      await session.until("NEXUS_OPERATION_COMPLETED", caller);
      await session.task();
    }),
);

test("an operation that times out", { skip }, () =>
  compared(
    "timeout",
    { scheduleToCloseTimeout: { seconds: 2n } },
    async (session, { caller }) => {
      await session.respond((await session.request()).token, async);
      await session.until("NEXUS_OPERATION_TIMED_OUT", caller);
      await session.task();
    },
  ));

const FLOWS = "handler-flows";

/** Starts the workflow of an asynchronous operation, as SDKs do. */
async function startHandler(
  session: RawNexusSession,
  workflowId: string,
  { value }: Any,
) {
  await session.start(workflowId, {
    requestId: value.requestId,
    taskQueue: { name: FLOWS },
    completionCallbacks: [{
      variant: {
        case: "nexus",
        value: { url: value.callback, header: value.callbackHeader },
      },
    }],
  });
}

test(
  "an asynchronous operation",
  { skip },
  () =>
    compared("async", {}, async (session, { caller, handler }) => {
      const request = await session.request();
      await startHandler(session, handler, request);
      await session.respond(request.token, async);
      await session.until("NEXUS_OPERATION_STARTED", caller);
      await session.task();
      await session.task([complete("shipped")], "default", FLOWS);
      await session.until("NEXUS_OPERATION_COMPLETED", caller);
      await session.task();
    }),
);

test(
  "a canceled asynchronous operation",
  { skip },
  () =>
    compared("canceling", {}, async (session, { caller, handler }) => {
      const request = await session.request();
      await startHandler(session, handler, request);
      await session.respond(request.token, async);
      await session.until("NEXUS_OPERATION_STARTED", caller);
      await session.task([{
        commandType: 18,
        attributes: {
          case: "requestCancelNexusOperationCommandAttributes",
          value: { scheduledEventId: 5n },
        },
      }]);
      const canceling = await session.request();
      assert.equal(canceling.value.operationToken, "token");
      await session.call("respondNexusTaskCompleted", {
        taskToken: canceling.token,
        response: { variant: { case: "cancelOperation", value: {} } },
      });
      await session.until("NEXUS_OPERATION_CANCEL_REQUEST_COMPLETED", caller);
      await session.task();
      await session.call("requestCancelWorkflowExecution", {
        workflowExecution: { workflowId: handler },
      });
      const command: Command = {
        commandType: 7,
        attributes: {
          case: "cancelWorkflowExecutionCommandAttributes",
          value: {},
        },
      };
      await session.task([command], "default", FLOWS);
      await session.until("NEXUS_OPERATION_CANCELED", caller);
      await session.task();
    }),
);

test(
  "operations attach to a running workflow, and end with it",
  { skip },
  async () => {
    const found = await Promise.all(both.services.map(async (service) => {
      const session = new RawNexusSession(service, "default");
      await session.start("attaching");
      const all = {
        attachRequestId: true,
        attachCompletionCallbacks: true,
        attachLinks: true,
      };
      const links: Any[] = [{
        variant: {
          case: "workflowEvent",
          value: { namespace: "default", workflowId: "attaching", runId: "r" },
        },
      }];
      const more = {
        workflowIdConflictPolicy: 2,
        onConflictOptions: all,
        links,
      };
      const ended = async () =>
        (await session.events("attaching")).filter((e) =>
          nameOf(e) === "NEXUS_OPERATION_COMPLETED"
        );
      const responses: Any[] = [];
      for (const scheduled of [5n, 10n, 15n]) {
        await session.task([schedule()]);
        const { token, value } = await session.request();
        const callback: Any = {
          variant: {
            case: "nexus",
            value: { url: value.callback, header: value.callbackHeader },
          },
          links,
        };
        const request: Any = {
          workflowId: "attached-to",
          workflowType: { name: "W" },
          requestId: value.requestId,
          taskQueue: { name: FLOWS },
          completionCallbacks: [callback],
          ...more,
          links: scheduled === 15n ? [] : links,
        };
        responses.push(await session.call("startWorkflowExecution", request));
        await session.respond(token, async);
        await until("the operation starts", async () => {
          const started = await session.until(
            "NEXUS_OPERATION_STARTED",
            "attaching",
          );
          return (started.attributes as Any).value.scheduledEventId ===
            scheduled;
        });
      }
      await session.task([complete("shipped")], "default", FLOWS);
      await until(
        "all operations end",
        async () => (await ended()).length === 3,
      );
      const handler = await session.events("attached-to");
      const execution = { workflowId: "attached-to" };
      const described = async () => {
        const { callbacks, workflowExtendedInfo } = await session.call(
          "describeWorkflowExecution",
          {
            execution,
          },
        );
        const requests = Object.values(
          workflowExtendedInfo.requestIdInfos,
        ) as Any[];
        return {
          callbacks: callbacks.map((
            each: Any,
          ) => [each.state, each.attempt, each.trigger?.variant?.case]),
          requests: requests.map((
            each,
          ) => [each.eventType, String(each.eventId), each.buffered]).sort(),
        };
      };
      await until(
        "all callbacks succeed",
        async () => (await described()).callbacks.every(([state]: Any) => state === 5),
      );
      await session.call("terminateWorkflowExecution", {
        workflowExecution: { workflowId: "attaching" },
      });
      return {
        responses: responses.map(({ started, status, link }) => [
          started,
          status,
          link.variant.value.reference.case,
        ]),
        handler: handler.map((event) => normalized(toJson(HistoryEventSchema, event))),
        ended: (await ended()).map((event) => {
          const { eventId: _, ...rest } = toJson(
            HistoryEventSchema,
            event,
          ) as Any;
          return normalized(rest) as Any;
        }).sort((a: Any, b: Any) =>
          a.nexusOperationCompletedEventAttributes.scheduledEventId -
          b.nexusOperationCompletedEventAttributes.scheduledEventId
        ),
        described: await described(),
      };
    }));
    assert.deepEqual(found[1], found[0]);
  },
);

test("a completion schedules and cancels an operation", { skip }, async () => {
  const found = await Promise.all(both.services.map(async (service) => {
    const session = new RawNexusSession(service, "default");
    await session.start("at-once");
    const cancel: Command = {
      commandType: 18,
      attributes: {
        case: "requestCancelNexusOperationCommandAttributes",
        value: { scheduledEventId: 5n },
      },
    };
    await session.task([schedule(), cancel]);
    const recorded = (await session.events("at-once")).slice(4, 6);
    const { token } = await session.request();
    await session.respond(token, async);
    const canceling = await session.request();
    assert.equal(canceling.case, "cancelOperation");
    await session.call("respondNexusTaskCompleted", {
      taskToken: canceling.token,
      response: { variant: { case: "cancelOperation", value: {} } },
    });
    await session.until("NEXUS_OPERATION_CANCEL_REQUEST_COMPLETED", "at-once");
    await session.call("terminateWorkflowExecution", {
      workflowExecution: { workflowId: "at-once" },
    });
    return recorded.map((event) => normalized(toJson(HistoryEventSchema, event)));
  }));
  assert.deepEqual(found[1], found[0]);
});

test("an unknown endpoint fails the workflow task", { skip }, async () => {
  const failures = await Promise.all(both.services.map(async (service) => {
    const session = new RawNexusSession(service, "default");
    await session.start("unknown");
    const error = await session.task([schedule({ endpoint: "absent" })]).catch((
      e,
    ) => e);
    const failed = await session.until("WORKFLOW_TASK_FAILED", "unknown");
    assert.equal(nameOf(failed), "WORKFLOW_TASK_FAILED");
    await session.call("terminateWorkflowExecution", {
      workflowExecution: { workflowId: "unknown" },
    });
    return [
      error.code,
      error.message,
      normalized(toJson(HistoryEventSchema, failed)),
    ];
  }));
  assert.deepEqual(failures[1], failures[0]);
});

test(
  "kill -9 loses no operation between its start and its end",
  { skip },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "temporalex-nexus-dev-"));
    const args = [
      "--port",
      String(await freePort()),
      "--db-filename",
      join(folder, "dev.sqlite"),
    ];
    let server = await OurServer.start(...args);
    let service = new GrpcService({ address: server.address });
    const restart = async () => {
      service.close();
      await server.stop("SIGKILL");
      server = await OurServer.start(...args);
      service = new GrpcService({ address: server.address });
      return new RawNexusSession(service, "default");
    };
    try {
      const target = [
        "--target-namespace",
        "default",
        "--target-task-queue",
        "handlers",
      ];
      await cli(server.address, "create", "--name", "billing", ...target);
      let session = new RawNexusSession(service, "default");
      await session.start();
      await session.task([schedule()]);
      const lost = await session.request();
      session = await restart();
      const request = await session.request();
      assert.equal(request.value.requestId, lost.value.requestId);
      await startHandler(session, "handler", request);
      await session.respond(request.token, async);
      await session.until("NEXUS_OPERATION_STARTED");
      session = await restart();
      await session.task([complete("shipped")], "default", FLOWS);
      await session.until("NEXUS_OPERATION_COMPLETED");
    } finally {
      service.close();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
