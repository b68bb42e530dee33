// How each option object of the public entries is passed: the calls that `option_objects.test.ts`
// makes with an option that does not exist.
import { create, toBinary } from "@bufbuild/protobuf";
import * as activity from "../../ts/activity/mod.ts";
import { DescribeScheduleResponseSchema } from "../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Client, type RawService } from "../../ts/client/mod.ts";
import * as testing from "../../ts/testing/mod.ts";
import * as w from "../../ts/workflow/mod.ts";

// deno-lint-ignore no-explicit-any
type Options = any;

/** `base`: what is needed to reach the check of a nested object. */
interface Caller {
  readonly call: (options: Options) => unknown;
  readonly base?: object;
}

const schedule = create(DescribeScheduleResponseSchema, {
  schedule: {
    action: {
      action: {
        case: "startWorkflow",
        value: { workflowType: { name: "W" }, taskQueue: { name: "q" } },
      },
    },
  },
});
const described = toBinary(DescribeScheduleResponseSchema, schedule);
/** Describes one schedule. Every other call must not be made: options are checked first. */
const service: RawService = {
  call: (method) =>
    method === "describeSchedule"
      ? Promise.resolve(described)
      : Promise.reject(new Error(`${method} was called with unknown options`)),
};
const client = new Client({ service, taskQueue: "q" });
const sent = (): never => {
  throw new Error("a message was sent with unknown options");
};
const inTransaction = client.workflowsIn({ call: sent, broadcast: sent });
const handle = client.getHandle(undefined, "w");
const standalone = client.activity.getHandle("a");
const scheduled = client.schedule.getHandle("s");
const set = client.workflows({ entityId: "e" });
const update = handle.startUpdate.bind(handle);

const drain = async (list: AsyncIterable<unknown>) => {
  for await (const _ of list);
};
const inEnvironment = async (use: (env: testing.TestEnvironment) => Promise<unknown>) => {
  const env = await testing.TestEnvironment.create();
  try {
    await use(env);
  } finally {
    await env.dispose();
  }
};
const SPEC = { every: "1h" };
const SCHEDULE = {
  scheduleId: "s",
  spec: { intervals: [SPEC] },
  action: { type: "startWorkflow", workflowType: "W", taskQueue: "q" },
};
const START = { id: "w" };
const WORKER = {
  workflows: { greet: w.workflow("greet", () => Promise.resolve(1)) },
  realm: "inline",
};
const procedure = { workflow: "w", name: "p" };
const byId = { workflowId: "w", activityId: "1" };
const never = w.signal("never");

const failures = (
  name: string,
  failure: typeof w.ApplicationFailure,
): { readonly [position: string]: Caller } => ({
  [`${name}: ApplicationFailure(options)`]: { call: (o) => new failure("x", o) },
  [`${name}: ApplicationFailure.retryable(options)`]: { call: (o) => failure.retryable("x", o) },
  [`${name}: ApplicationFailure.nonRetryable(options)`]: {
    call: (o) => failure.nonRetryable("x", o),
  },
});

const WORKFLOW: { readonly [position: string]: Caller } = {
  "workflow: activities(options)": { call: (o) => w.activities(o) },
  "workflow: ActivityCall.with(options)": {
    call: (o) => w.activities<{ f(): number }>().f.with(o),
  },
  "workflow: localActivities(options)": { call: (o) => w.localActivities(o) },
  "workflow: LocalActivityCall.with(options)": {
    call: (o) => w.localActivities<{ f(): number }>().f.with(o),
  },
  "workflow: executeChild(options)": { call: (o) => w.executeChild("W", o) },
  "workflow: startChild(options)": { call: (o) => w.startChild("W", o) },
  "workflow: continueAsNewWith(options)": { call: (o) => w.continueAsNewWith(o) },
  "workflow: workflow(definition)": {
    call: (o) => w.workflow("W", o),
    base: { run: () => Promise.resolve() },
  },
  "workflow: procedure(options)": { call: (o) => w.procedure("p", [], o) },
  "workflow: nexus(options)": { call: (o) => w.nexus("s", o), base: { endpoint: "e" } },
  "workflow: NexusCall.with(options)": {
    call: (o) => w.nexus<{ f(): number }>("s", { endpoint: "e" }).f.with(o),
  },
  "workflow: query(options)": { call: (o) => w.query("q", o) },
  "workflow: signal(options)": { call: (o) => w.signal("s", o) },
  "workflow: update(options)": { call: (o) => w.update("u", o) },
  "workflow: payload(options)": { call: (o) => w.payload(o) },
  "workflow: on(options)": { call: (o) => w.on(w.update("u"), () => w.reply(undefined, 0), o) },
  "workflow: parallel(options)": { call: (o) => w.parallel([], o) },
  "workflow: receive(options)": { call: (o) => w.receive(0, [], o) },
  "workflow: sleep(options)": { call: (o) => w.sleep("1s", o) },
  ...failures("workflow", w.ApplicationFailure),
};

const CLIENT: { readonly [position: string]: Caller } = {
  "client: Client(options)": { call: (o) => new Client(o), base: { service } },
  "client: Client.start(options)": { call: (o) => client.start("W", o), base: START },
  "client: Client.execute(options)": { call: (o) => client.execute("W", o), base: START },
  "client: Client.signalWithStart(options)": {
    call: (o) => client.signalWithStart("W", o),
    base: { ...START, signal: "s" },
  },
  "client: Client.startUpdateWithStart(options)": {
    call: (o) => client.startUpdateWithStart("W", o),
    base: { ...START, update: "u", waitFor: "accepted" },
  },
  "client: Client.executeUpdateWithStart(options)": {
    call: (o) => client.executeUpdateWithStart("W", o),
    base: { ...START, update: "u" },
  },
  "client: Client.list(options)": { call: (o) => drain(client.list("", o)) },
  "client: Client.workflows(selection)": {
    call: (o) => client.workflows(o),
    base: { entityId: "e" },
  },
  "client: Client.count(settings)": { call: (o) => client.count("", o) },
  "client: Client.countGroups(settings)": { call: (o) => client.countGroups("", o) },
  "client: Client.countByStatus(settings)": { call: (o) => client.countByStatus("", o) },
  "client: Client.completeActivity(address)": {
    call: (o) => client.completeActivity(o),
    base: byId,
  },
  "client: Client.completeActivity(settings)": { call: (o) => client.completeActivity(byId, 1, o) },
  "client: Client.failActivity(address)": {
    call: (o) => client.failActivity(o, new Error("x")),
    base: byId,
  },
  "client: Client.failActivity(settings)": {
    call: (o) => client.failActivity(byId, new Error("x"), o),
  },
  "client: Client.heartbeatActivity(address)": {
    call: (o) => client.heartbeatActivity(o),
    base: byId,
  },
  "client: Client.heartbeatActivity(settings)": {
    call: (o) => client.heartbeatActivity(byId, 1, o),
  },
  "client: Client.reportCancellation(address)": {
    call: (o) => client.reportCancellation(o),
    base: byId,
  },
  "client: Client.reportCancellation(settings)": {
    call: (o) => client.reportCancellation(byId, 1, o),
  },
  "client: Client.completeProcedure(address)": {
    call: (o) => client.completeProcedure(o),
    base: procedure,
  },
  "client: Client.completeProcedure(settings)": {
    call: (o) => client.completeProcedure(procedure, 1, o),
  },
  "client: TransactionWorkflows.start(options)": {
    call: (o) => inTransaction.start("W", o),
    base: START,
  },
  "client: TransactionWorkflows.signalWithStart(options)": {
    call: (o) => inTransaction.signalWithStart("W", o),
    base: { ...START, signal: "s" },
  },
  "client: TransactionWorkflows.completeProcedure(address)": {
    call: (o) => inTransaction.completeProcedure(o),
    base: procedure,
  },
  "client: TransactionWorkflows.failProcedure(address)": {
    call: (o) => inTransaction.failProcedure(o, new Error("x")),
    base: procedure,
  },
  "client: Client.failProcedure(address)": {
    call: (o) => client.failProcedure(o, new Error("x")),
    base: procedure,
  },
  "client: Client.failProcedure(settings)": {
    call: (o) => client.failProcedure(procedure, new Error("x"), o),
  },
  "client: WorkflowHandle.with(settings)": { call: (o) => handle.with(o) },
  "client: WorkflowHandle.result(options)": { call: (o) => handle.result(o) },
  "client: WorkflowHandle.executeUpdate(options)": { call: (o) => handle.executeUpdate("u", o) },
  "client: WorkflowHandle.startUpdate(options)": {
    call: (o) => update("u", o),
    base: { waitFor: "accepted" },
  },
  "client: WorkflowHandle.reset(options)": {
    call: (o) => handle.reset(o),
    base: { eventId: 4, reason: "x" },
  },
  "client: WorkflowHandle.history(options)": { call: (o) => drain(handle.history(o)) },
  "client: WorkflowHandle.fetchHistory(options)": { call: (o) => handle.fetchHistory(o) },
  "client: WorkflowHandle.historyJson(options)": { call: (o) => handle.historyJson(o) },
  "client: WorkflowHandle.historyBytes(options)": { call: (o) => handle.historyBytes(o) },
  "client: WorkflowSet.list(settings)": { call: (o) => drain(set.list(o)) },
  "client: WorkflowSet.count(settings)": { call: (o) => set.count(o) },
  "client: WorkflowSet.cancel(settings)": { call: (o) => set.cancel("", o) },
  "client: WorkflowSet.terminate(settings)": { call: (o) => set.terminate("", o) },
  "client: UpdateHandle.result(settings)": { call: (o) => handle.getUpdateHandle("u").result(o) },
};

const SCHEDULES: { readonly [position: string]: Caller } = {
  "client: ScheduleHandle.describe(settings)": { call: (o) => scheduled.describe(o) },
  "client: ScheduleHandle.update(change)()": {
    call: (o) => scheduled.update(() => o),
    base: SCHEDULE,
  },
  "client: ScheduleHandle.update(settings)": {
    call: (o) => scheduled.update(() => SCHEDULE as Options, o),
  },
  "client: ActivityClient.start(options)": { call: (o) => client.activity.start("w", o) },
  "client: ActivityClient.execute(options)": { call: (o) => client.activity.execute("w", o) },
  "client: ActivityClient.list(options)": { call: (o) => drain(client.activity.list("", o)) },
  "client: ActivityClient.count(settings)": { call: (o) => client.activity.count("", o) },
  "client: ActivityHandle.result(settings)": { call: (o) => standalone.result(o) },
  "client: ActivityHandle.describe(settings)": { call: (o) => standalone.describe(o) },
  "client: ActivityHandle.cancel(settings)": { call: (o) => standalone.cancel("", o) },
  "client: ActivityHandle.terminate(settings)": { call: (o) => standalone.terminate("", o) },
  "client: ActivityHandle.pause(settings)": { call: (o) => standalone.pause("", o) },
  "client: ActivityHandle.unpause(settings)": { call: (o) => standalone.unpause("", o) },
  "client: ActivityHandle.reset(options)": { call: (o) => standalone.reset(o) },
  "client: ActivityHandle.updateOptions(options)": { call: (o) => standalone.updateOptions(o) },
  "client: ActivityHandle.updateOptions(settings)": {
    call: (o) => standalone.updateOptions({ taskQueue: "q" }, o),
  },
  "client: ActivityHandle.delete(settings)": { call: (o) => standalone.delete(o) },
  "client: ScheduleHandle.pause(settings)": { call: (o) => scheduled.pause("x", o) },
  "client: ScheduleHandle.unpause(settings)": { call: (o) => scheduled.unpause("x", o) },
  "client: ScheduleHandle.trigger(settings)": { call: (o) => scheduled.trigger("SKIP", o) },
  "client: ScheduleHandle.backfill(times)": { call: (o) => scheduled.backfill(o) },
  "client: ScheduleHandle.backfill(settings)": { call: (o) => scheduled.backfill([], o) },
  "client: ScheduleHandle.delete(settings)": { call: (o) => scheduled.delete(o) },
  "client: ScheduleHandle.matchingTimes(settings)": {
    call: (o) => scheduled.matchingTimes(new Date(0), new Date(1), o),
  },
  "client: ScheduleClient.create(options)": {
    call: (o) => client.schedule.create(o),
    base: SCHEDULE,
  },
  "client: ScheduleClient.create(settings)": {
    call: (o) => client.schedule.create(SCHEDULE as Options, o),
  },
  "client: ScheduleClient.list(options)": { call: (o) => drain(client.schedule.list(o)) },
};

const TESTING: { readonly [position: string]: Caller } = {
  "testing: TestEnvironment.create(options)": { call: (o) => testing.TestEnvironment.create(o) },
  "testing: TestEnvironment.fireTimer(workflow)": {
    call: (o) => inEnvironment((env) => env.fireTimer(o, "t")),
    base: { workflowId: "w" },
  },
  "testing: TestEnvironment.createWorker(options)": {
    call: (o) => inEnvironment((env) => env.createWorker(o)),
    base: WORKER,
  },
  "testing: TestEnvironment.runWorker(options)": {
    call: (o) => inEnvironment((env) => env.runWorker(o, () => Promise.resolve())),
    base: WORKER,
  },
  "testing: runActivity(options)": { call: (o) => testing.runActivity(() => 1, [], o) },
};

/** By position, as `OptionObjects` names them. */
export const CALLERS: { readonly [position: string]: Caller } = {
  ...WORKFLOW,
  ...CLIENT,
  ...SCHEDULES,
  ...TESTING,
  ...failures("activity", activity.ApplicationFailure),
};

/** Functions without options, called with options: as their next argument. */
export const WITHOUT_OPTIONS: { readonly [name: string]: (options: Options) => unknown } = {
  select: (o) => (w.select as Options)([w.on(never, () => 1)], o),
  parallel: (o) => (w.parallel as Options)([], {}, o),
  shield: (o) => (w.shield as Options)(() => 1, o),
  waitForSignal: (o) => (w.waitForSignal as Options)(never, o),
  timer: (o) => (w.timer as Options)("1s", () => 1, o),
  "timer with a name": (o) => (w.timer as Options)("t", "1s", () => 1, o),
  executeChild: (o) => (w.executeChild as Options)("W", {}, o),
  startChild: (o) => (w.startChild as Options)("W", {}, o),
  receive: (o) => (w.receive as Options)(0, [], {}, o),
  procedure: (o) => (w.procedure as Options)("p", [], {}, o),
  "on of a signal": (o) => (w.on as Options)(never, () => 1, o),
  "on of a function": (o) => (w.on as Options)(() => Promise.resolve(), () => 1, o),
  "handle.describe": (o) => (handle.describe as Options).call(handle, o),
  "handle.delete": (o) => (handle.delete as Options).call(handle, o),
  "handle.cancel": (o) => (handle.cancel as Options).call(handle, "reason", o),
  "handle.cancel without a reason": (o) => (handle.cancel as Options).call(handle, o),
  "handle.terminate": (o) => (handle.terminate as Options).call(handle, o),
  "handle.procedures": (o) => (handle.procedures as Options).call(handle, o),
  "handle.completeProcedure": (o) => (handle.completeProcedure as Options).call(handle, "p", 1, o),
  "handle.failProcedure": (o) =>
    (handle.failProcedure as Options).call(handle, "p", new Error("no"), o),
};
