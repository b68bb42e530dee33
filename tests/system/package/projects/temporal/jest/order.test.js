// A test of a project that uses Jest and the official SDK's names.
const { WorkflowFailedError } = require("@temporalio/client");
const { ActivityFailure, ApplicationFailure } = require("@temporalio/common");
const { MockActivityEnvironment, TestWorkflowEnvironment } = require("@temporalio/testing");
const { DefaultLogger, Runtime, Worker } = require("@temporalio/worker");
const activities = require("./activities");
const { approve, order } = require("./workflows");

let env;
beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger("ERROR") });
  env = await TestWorkflowEnvironment.createTimeSkipping();
});
afterAll(() => env.teardown());

async function ended(workflowId, cents, signalled) {
  const workflowsPath = require.resolve("./workflows");
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue: "test",
    workflowsPath,
    activities,
  });
  return await worker.runUntil(async () => {
    const handle = await env.client.workflow.start(order, {
      taskQueue: "test",
      workflowId,
      args: [cents],
    });
    if (signalled) await handle.signal(approve);
    return await handle.result().catch((error) => error);
  });
}

test("three days pass", async () => {
  expect(await ended("late", 1, false)).toBe("not approved");
});

test("an activity that Jest loaded runs in the worker, with its context", async () => {
  expect(await ended("approved", 5, true)).toBe("receipt for 5, attempt 1");
});

test.each([[13, "RangeError", "an unlucky sum"], [-1, "Negative", "less than nothing"]])(
  "what it throws for %p has the classes that the test sees",
  async (cents, type, message) => {
    const error = await ended(`failed ${cents}`, cents, true);
    expect(error).toBeInstanceOf(WorkflowFailedError);
    expect(error.cause).toBeInstanceOf(ActivityFailure);
    expect(error.cause.cause).toBeInstanceOf(ApplicationFailure);
    expect(error.cause.cause).toMatchObject({ type, message });
  },
);

test("one activity", async () => {
  expect(await new MockActivityEnvironment({ attempt: 2 }).run(activities.charge, 5)).toBe(
    "receipt for 5, attempt 2",
  );
  await expect(new MockActivityEnvironment().run(activities.charge, 13)).rejects.toThrow(
    RangeError,
  );
});

test("a data converter is loaded by Jest: its classes are the test's", async () => {
  const { Money } = require("./money");
  const { Client } = require("@temporalio/client");
  const { connection, options } = new Client({
    dataConverter: { payloadConverterPath: require.resolve("./converter") },
  });
  const { payloadConverter } = options.loadedDataConverter;
  const payload = payloadConverter.toPayload(new Money(5));
  expect(payloadConverter.fromPayload(payload)).toBeInstanceOf(Money);
  expect(new TextDecoder().decode(payload.metadata.encoding)).toBe("json/money");
  await connection.close();
});

test("a package of a name that is absent says so", () => {
  expect(() => require("@temporalio/client").HealthService).toThrow(/has no "HealthService"/);
});
