// Calls that the embedded engine does not have, on a scripted service: schedules,
// update-with-start, resets, Nexus tasks; and activity tasks that end in a cancellation.
import assert from "node:assert/strict";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Client, ScheduleClient, ScheduleHandle } from "../../../../ts/client/mod.ts";
import * as compat from "../../../../ts/compat/client/mod.ts";
import { ApplicationFailure as CompatFailure } from "../../../../ts/compat/common/mod.ts";
import type { ServiceHandler } from "../../../../ts/compat/nexus/types.ts";
import { getClient } from "../../../../ts/compat/nexus/mod.ts";
import { nexusServices } from "../../../../ts/compat/worker/native_nexus.ts";
import { MessageCodec } from "../../../../ts/codec/message_codec.ts";
import { CancelledFailure } from "../../../../ts/converter/failures.ts";
import { defaultPayloadConverter } from "../../../../ts/converter/payload.ts";
import { activityContext } from "../../../../ts/activity/mod.ts";
import { UpdateWorkflowExecutionLifecycleStage as Stage } from "../../../../ts/messages/generated/temporal/api/enums/v1/update_pb.ts";
import {
  type PollNexusTaskQueueResponse,
  PollNexusTaskQueueResponseSchema,
  type UpdateScheduleRequest,
} from "../../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { RawService } from "../../../../ts/service/raw.ts";
import { Worker } from "../../../../ts/worker/mod.ts";
import { ScriptedService, waits } from "../../../support/scripted_service.ts";
import { until } from "../../../support/until.ts";
import { codec, INTERNAL, type Scan } from "./scan.ts";
import { mark, plainmarkFrame } from "./words.ts";

const common = { codec, encodeCommonAttributes: true };
const memo = { about: mark("memo of a schedule") };
const action = { args: [mark("schedule argument")], memo: { of: mark("memo of an action") } };

/** Responds as a server would, from the stored values. */
function service(): ScriptedService {
  let stored: { schedule?: unknown; memo?: unknown } = {};
  const keep = (request: unknown) => {
    stored = { ...stored, ...request as UpdateScheduleRequest };
    return {};
  };
  const updateRef = { updateId: "u", workflowExecution: { workflowId: "w", runId: "r" } };
  const started = { case: "startWorkflow" as const, value: { runId: "r", started: true } as never };
  const accepted = {
    case: "updateWorkflow" as const,
    value: { stage: Stage.COMPLETED, updateRef, outcome: result } as never,
  };
  return new ScriptedService()
    .on("createSchedule", keep)
    .on("updateSchedule", keep)
    .on("patchSchedule", () => ({}))
    .on("deleteSchedule", () => ({}))
    .on("listScheduleMatchingTimes", () => ({}))
    .on(
      "listSchedules",
      () => ({ schedules: [{ scheduleId: "s", memo: stored.memo as never, info: { spec: {} } }] }),
    )
    .on(
      "describeSchedule",
      () => ({ schedule: stored.schedule as never, memo: stored.memo as never, info: {} }),
    )
    .on(
      "executeMultiOperation",
      () => ({ responses: [{ response: started }, { response: accepted }] }),
    )
    .on("resetWorkflowExecution", () => ({ runId: "r2" }));
}

const result = {
  value: { case: "success", value: { payloads: [defaultPayloadConverter.toPayload("ok")] } },
};

async function native(scan: Scan): Promise<void> {
  scan.watchClass("ScheduleClient", ScheduleClient);
  scan.watchClass("ScheduleHandle", ScheduleHandle);
  const recorded = scan.recorded(service(), "native client");
  const client = new Client({
    ...common,
    service: recorded,
    taskQueue: "q",
    logger: scan.logger("native client"),
  });
  const whole = {
    type: "startWorkflow" as const,
    workflowType: "Marked",
    ...action,
    summary: mark("summary"),
    details: mark("details"),
  };
  await client.schedule.create({
    scheduleId: "s",
    spec: { intervals: [{ every: "1h" }] },
    action: whole,
    memo,
  });
  const handle = client.schedule.getHandle("s");
  assert.deepEqual((await handle.describe()).memo, memo);
  await handle.update((previous) =>
    ({ ...previous, action: { ...whole, args: [mark("updated argument")] } }) as never
  );
  await handle.pause();
  await handle.unpause();
  await handle.trigger();
  await handle.backfill({ start: new Date(0), end: new Date(1000) });
  await handle.matchingTimes(new Date(0), new Date(1000));
  for await (const listed of client.schedule.list()) assert.deepEqual(listed.memo, memo);
  await handle.delete();
  const start = {
    id: "w",
    args: [mark("start")],
    memo,
    update: "add",
    updateArgs: [mark("update")],
    updateId: "u",
  };
  assert.equal(await client.executeUpdateWithStart("Marked", start), "ok");
  const { update } = await client.startUpdateWithStart("Marked", { ...start, waitFor: "accepted" });
  assert.equal(await update.result(), "ok");
}

async function official(scan: Scan, dataConverter: object): Promise<void> {
  scan.watchClass("compat ScheduleClient", compat.ScheduleClient, INTERNAL);
  const connection = compat.Connection.over(scan.recorded(service(), "compat client"));
  const client = new compat.Client({ connection, dataConverter });
  const whole = {
    type: "startWorkflow" as const,
    workflowType: "Marked",
    taskQueue: "q",
    ...action,
    staticSummary: mark("summary"),
  };
  await client.schedule.create(
    { scheduleId: "s", spec: { intervals: [{ every: "1h" }] }, action: whole, memo } as never,
  );
  const handle = scan.watchObject("compat ScheduleHandle", client.schedule.getHandle("s"));
  assert.deepEqual((await handle.describe()).memo, memo);
  await handle.update((previous) =>
    ({ ...previous, action: { ...whole, args: [mark("updated argument")] } }) as never
  );
  await handle.pause();
  await handle.unpause();
  await handle.trigger();
  await handle.backfill({ start: new Date(0), end: new Date(1000), overlap: "ALLOW_ALL" } as never);
  for await (const listed of client.schedule.list()) assert.deepEqual(listed.memo, memo);
  await handle.delete();
  const operation = () =>
    new compat.WithStartWorkflowOperation("Marked", {
      workflowId: "w",
      taskQueue: "q",
      args: [mark("start")],
      memo,
      workflowIdConflictPolicy: "USE_EXISTING",
    } as never);
  const workflow = client.workflow;
  const args = [mark("update")];
  await workflow.executeUpdateWithStart("add", { args, startWorkflowOperation: operation() });
  await workflow.startUpdateWithStart("add", {
    args,
    waitForStage: "ACCEPTED",
    startWorkflowOperation: operation(),
  });
}

/** Operations whose results and failures have the marker, and that log what they are given. */
function marking(): ServiceHandler {
  const fails = (): never =>
    plainmarkFrame(
      (message, cause) => CompatFailure.create({ message, details: [message], cause }),
      "operation",
    );
  return {
    definition: { name: "s" },
    getOperationHandler: (name: string) => ({
      start: async (_ctx: unknown, input: unknown) => {
        if (name === "fails") fails();
        const { activity } = getClient();
        await activity.fail(
          Uint8Array.of(1),
          CompatFailure.create({ message: mark("from a handler"), details: [mark("detail")] }),
        );
        return { isAsync: false, value: mark(`answer to ${String(input)}`) };
      },
      cancel: () => Promise.reject(new Error(mark("cancel"))),
    }),
  } as never;
}

/** Nexus tasks in both forms that servers send, and an activity that is cancelled with details. */
async function worker(scan: Scan): Promise<void> {
  const tasks: PollNexusTaskQueueResponse[] = [];
  for (const temporalFailureResponses of [true, false]) {
    for (const operation of ["works", "fails"]) {
      tasks.push(await encoded(mark("operation input"), operation, temporalFailureResponses));
    }
  }
  const reports = [
    "respondNexusTaskCompleted",
    "respondNexusTaskFailed",
    "respondActivityTaskCanceled",
  ] as const;
  const scripted = new ScriptedService();
  for (const method of [...reports, "respondActivityTaskFailed"] as const) {
    scripted.on(method, () => ({}));
  }
  let given = false;
  scripted
    .on("getSystemInfo", () => ({}))
    .on("describeNamespace", () => ({}))
    .on("pollNexusTaskQueue", (_request, options) => tasks.shift() ?? waits(options))
    .on("recordActivityTaskHeartbeat", () => ({ cancelRequested: true }))
    .on("pollActivityTaskQueue", (_request, options) => {
      if (given) return waits(options);
      given = true;
      return {
        taskToken: Uint8Array.of(2),
        activityType: { name: "cancelled" },
        activityId: "1",
        attempt: 1,
      };
    });
  const options = {
    ...common,
    service: scan.recorded(scripted as RawService, "native worker"),
    taskQueue: "q",
  };
  const made = await Worker.create({
    ...options,
    nexusServices: nexusServices([marking()]),
    logger: scan.logger("native worker"),
    activities: {
      async cancelled() {
        const { cancelled, heartbeat } = activityContext();
        heartbeat(mark("heartbeat"));
        await new Promise((resolve) =>
          cancelled.addEventListener("abort", resolve, { once: true })
        );
        throw new CancelledFailure(mark("stopped"), [mark("cancellation details")]);
      },
    },
  });
  const count = (method: (typeof reports)[number]) => scripted.requests(method).length;
  await made.runUntil(() =>
    until(
      "all tasks are completed",
      () =>
        count("respondNexusTaskCompleted") === 2 && count("respondNexusTaskFailed") === 2 &&
        count("respondActivityTaskCanceled") === 1,
    )
  );
}

/** A Nexus task with an encoded input. */
async function encoded(
  input: string,
  operation = "works",
  temporalFailureResponses = true,
): Promise<PollNexusTaskQueueResponse> {
  const task = create(PollNexusTaskQueueResponseSchema, {
    taskToken: Uint8Array.of(1),
    request: {
      capabilities: { temporalFailureResponses },
      variant: {
        case: "startOperation",
        value: {
          service: "s",
          operation,
          requestId: "r",
          payload: defaultPayloadConverter.toPayload(input),
        },
      },
    },
  });
  const bytes = toBinary(PollNexusTaskQueueResponseSchema, task);
  return fromBinary(
    PollNexusTaskQueueResponseSchema,
    await MessageCodec.of({ codec })!.encode(PollNexusTaskQueueResponseSchema, bytes),
  );
}

/** All of it; `dataConverter` is that of the programs of Temporal's packages. */
export async function driveScripted(scan: Scan, dataConverter: object): Promise<void> {
  await native(scan);
  await official(scan, dataConverter);
  await worker(scan);
}
