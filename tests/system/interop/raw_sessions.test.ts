// Raw gRPC sessions on `temporalex dev` and on Temporal's development server: starts that attach to a
// running workflow, links of requests, and commands that cancel what they have scheduled.
// runtime: node (compares servers; other files cover the runtime)
// takes: 20 s
import { after, before, test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { LinkSchema } from "../../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";
import type { HistoryEvent } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { BothServers } from "./support/both_servers.ts";
import { noServer } from "./support/dev_server.ts";
import { compareSessions, type RawCommand, type RawSession } from "./support/raw_sessions.ts";

const skip = noServer;
let both: BothServers;

before(async () => {
  if (skip !== false) return;
  // Servers after 1.29 have no such setting: links to attached requests name the request.
  both = await BothServers.start(["history.enableRequestIdRefLinks=true"]);
});

after(async () => await both?.close());

const compare = (body: (session: RawSession) => Promise<void>) =>
  compareSessions(both.services, body);

const USE_EXISTING = 2;
type RawLink = MessageInitShape<typeof LinkSchema>;
const link = (workflowId: string, more: object = {}): RawLink => ({
  variant: {
    case: "workflowEvent",
    value: {
      namespace: "default",
      workflowId,
      runId: "run",
      reference: { case: "eventRef", value: { eventId: 5n, eventType: 10 } },
      ...more,
    },
  },
});
const batchLink = (jobId: string): RawLink => ({
  variant: { case: "batchJob", value: { jobId } },
});
const all = {
  attachRequestId: true,
  attachCompletionCallbacks: true,
  attachLinks: true,
};
const attach = (
  session: RawSession,
  workflowId: string,
  requestId: string,
  more: object = {},
) =>
  session.start(workflowId, {
    requestId,
    workflowIdConflictPolicy: USE_EXISTING,
    onConflictOptions: all,
    links: [link("caller")],
    ...more,
  });
const done: RawCommand = {
  commandType: 4,
  attributes: { case: "completeWorkflowExecutionCommandAttributes", value: {} },
};
const EXTENDED = ["workflowExtendedInfo", "callbacks"];

test(
  "a start attaches to an idle workflow",
  { skip },
  () =>
    compare(async (session) => {
      const id = "attach-idle";
      await session.start(id, { links: [link("first")] });
      await session.task(id);
      await session.describe(id, ...EXTENDED);
      await attach(session, id, "second");
      await session.describe(id, ...EXTENDED, "pendingWorkflowTask");
      await attach(session, id, "second");
      await attach(session, id, "start");
      await attach(session, id, "third", { onConflictOptions: {} });
      await attach(session, id, "fourth", {
        onConflictOptions: { attachLinks: true },
      });
      await attach(session, id, "fifth", {
        onConflictOptions: { attachRequestId: true },
      });
      await attach(session, id, "sixth", { onConflictOptions: undefined });
      await attach(session, id, "seventh", {
        onConflictOptions: { attachCompletionCallbacks: true },
      });
      await attach(session, id, "eighth", { workflowIdConflictPolicy: 1 });
      await session.history(id);
      await session.call("terminateWorkflowExecution", {
        workflowExecution: { workflowId: id },
      });
      await attach(session, id, "second", { workflowIdReusePolicy: 3 });
      await attach(session, id, "ninth", { workflowIdReusePolicy: 3 });
      await session.describe(id, ...EXTENDED);
      await session.history(id);
    }),
);

test(
  "a start attaches while a workflow task is scheduled and while it is started",
  { skip },
  () =>
    compare(async (session) => {
      const id = "attach-buffered";
      await session.start(id);
      await attach(session, id, "scheduled");
      await session.describe(id, ...EXTENDED);
      const task = await session.poll(id);
      await attach(session, id, "started");
      await session.describe(id, ...EXTENDED);
      await attach(session, id, "started");
      await session.complete(task);
      await session.describe(id, ...EXTENDED, "pendingWorkflowTask");
      await session.history(id);
      const next = await session.poll(id);
      await attach(session, id, "at the end");
      await session.complete(next, [done]);
      await session.history(id);
      await session.task(id, [done]);
      await session.describe(id, ...EXTENDED);
      await session.history(id);
    }),
);

test("a reset run has attached requests", {
  skip,
}, () =>
  compare(async (session) => {
    const id = "attach-chains";
    await session.start(id);
    await attach(session, id, "one");
    await session.task(id);
    await attach(session, id, "two");
    await session.step("resetWorkflowExecution", {
      workflowExecution: { workflowId: id },
      reason: "again",
      workflowTaskFinishEventId: 4n,
      requestId: "reset",
    });
    await session.describe(id, ...EXTENDED);
    await session.history(id);
    await session.terminate(id);
  }));

test(
  "requests attach to a run until it continues as new",
  { skip },
  () =>
    compare(async (session) => {
      const id = "attach-continued";
      await session.start(id);
      await attach(session, id, "one");
      await session.task(id, [{
        commandType: 10,
        attributes: {
          case: "continueAsNewWorkflowExecutionCommandAttributes",
          value: { workflowType: { name: "W" }, taskQueue: { name: id } },
        },
      }]);
      await session.describe(id, ...EXTENDED);
      await attach(session, id, "one");
      // The server waits a second before the first task of the new run.
      const { history } = await session.call("getWorkflowExecutionHistory", {
        execution: { workflowId: id },
      });
      session.record(
        history.events.map(({ attributes }: HistoryEvent) => attributes.value)
          .filter(
            (attributes: object) => "attachedRequestId" in attributes,
          ),
      );
      await session.terminate(id);
    }),
);

test(
  "signals, cancel requests and terminations have the links of their requests",
  { skip },
  () =>
    compare(async (session) => {
      const id = "links";
      const workflowExecution = { workflowId: id };
      const signal = (more: object) =>
        session.step("signalWorkflowExecution", {
          workflowExecution,
          signalName: "go",
          identity: "client",
          ...more,
        });
      await session.start(id);
      await signal({ links: [link("a"), link("b")] });
      await signal({ links: [batchLink("job")] });
      const task = await session.poll(id);
      await signal({ links: [link("buffered")] });
      await session.step("requestCancelWorkflowExecution", {
        workflowExecution,
        reason: "enough",
        requestId: "cancel",
        identity: "client",
        links: [link("cancel"), batchLink("job")],
      });
      await session.complete(task);
      await session.step("signalWithStartWorkflowExecution", {
        workflowId: id,
        workflowType: { name: "W" },
        taskQueue: { name: id },
        signalName: "with start",
        requestId: "with start",
        identity: "client",
        links: [link("c")],
      });
      const rejected: RawLink[][] = [
        [link("")],
        [link("a", { namespace: "" })],
        [link("a", { runId: "" })],
        [link("a", {
          reference: { case: "eventRef", value: { eventId: 5n } },
        })],
        [batchLink("")],
        [{}],
        Array.from({ length: 11 }, () => link("a")),
        [link("a".repeat(4000))],
      ];
      for (const links of rejected) {
        await signal({ links });
        await session.step("requestCancelWorkflowExecution", {
          workflowExecution,
          links,
        });
        await session.step("terminateWorkflowExecution", {
          workflowExecution,
          links,
        });
        await session.start("links-rejected", { links });
      }
      await session.step("terminateWorkflowExecution", {
        workflowExecution,
        links: [link("end")],
      });
      await session.history(id);
      await session.step("signalWithStartWorkflowExecution", {
        workflowId: id,
        workflowType: { name: "W" },
        taskQueue: { name: id },
        signalName: "with start",
        requestId: "new run",
        identity: "client",
        links: [link("c")],
      });
      await session.history(id);
      await session.describe(id, ...EXTENDED);
      await session.terminate(id);
    }),
);

const activity = (
  workflowId: string,
  activityId: string,
  more: object = {},
): RawCommand => ({
  commandType: 1,
  attributes: {
    case: "scheduleActivityTaskCommandAttributes",
    value: {
      activityId,
      activityType: { name: "A" },
      taskQueue: { name: workflowId },
      startToCloseTimeout: { seconds: 60n },
      ...more,
    },
  },
});
const cancelActivity = (scheduledEventId: bigint): RawCommand => ({
  commandType: 2,
  attributes: {
    case: "requestCancelActivityTaskCommandAttributes",
    value: { scheduledEventId },
  },
});
const timer = (timerId: string): RawCommand => ({
  commandType: 3,
  attributes: {
    case: "startTimerCommandAttributes",
    value: { timerId, startToFireTimeout: { seconds: 60n } },
  },
});
const cancelTimer = (timerId: string): RawCommand => ({
  commandType: 6,
  attributes: { case: "cancelTimerCommandAttributes", value: { timerId } },
});

const CANCELED_AT_ONCE: Record<string, (id: string) => RawCommand[]> = {
  "an activity": (id) => [activity(id, "a"), cancelActivity(5n)],
  "an activity between others": (id) => [
    timer("t"),
    activity(id, "a"),
    activity(id, "b"),
    cancelActivity(6n),
    cancelTimer("t"),
  ],
  "an activity whose id is used again": (id) => [
    activity(id, "a"),
    cancelActivity(5n),
    activity(id, "a"),
  ],
  "an eager activity": (id) => [
    activity(id, "a", { requestEagerExecution: true }),
    cancelActivity(5n),
  ],
  "an activity twice": (
    id,
  ) => [activity(id, "a"), cancelActivity(5n), cancelActivity(5n)],
  "an activity before it is scheduled": (
    id,
  ) => [cancelActivity(6n), activity(id, "a")],
  "an activity that is not there": (
    id,
  ) => [activity(id, "a"), cancelActivity(9n)],
  "a timer instead of an activity": () => [timer("t"), cancelActivity(5n)],
  "an activity at the end": (
    id,
  ) => [activity(id, "a"), cancelActivity(5n), done],
};

interface Pending {
  readonly activityId: string;
  readonly state: string;
  readonly attempt: number;
}

for (const [name, commands] of Object.entries(CANCELED_AT_ONCE)) {
  const id = `at-once-${Object.keys(CANCELED_AT_ONCE).indexOf(name)}`;
  test(
    `a completion schedules and cancels ${name}`,
    { skip },
    () =>
      compare(async (session) => {
        await session.start(id);
        await session.task(id, commands(id));
        await session.step(
          "describeWorkflowExecution",
          { execution: { workflowId: id } },
          ({ pendingActivities = [], pendingWorkflowTask }) => [
            pendingActivities.map(({ activityId, state, attempt }: Pending) => [
              activityId,
              state,
              attempt,
            ]),
            pendingWorkflowTask,
          ],
        );
        await session.history(id);
        await session.terminate(id).catch(() => undefined);
      }),
  );
}
