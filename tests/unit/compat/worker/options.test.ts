// Options of `Worker.create`, `NativeConnection.connect` and `Runtime.install`: honored, or
// refused by name with what to do.
// process: own (it installs the Runtime of the worker package)
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { connectOptions } from "../../../../ts/compat/worker/connection_options.ts";
import {
  appendDefaultInterceptors,
  DefaultLogger,
  defaultSinks,
  type LogEntry,
  LogTimestamp,
  makeTelemetryFilterString,
  MetricsBuffer,
  ResourceBasedController,
  Runtime,
  Worker,
  type WorkerOptions,
} from "../../../../ts/compat/worker/mod.ts";
import { limits, refuseOptions } from "../../../../ts/compat/worker/native_options.ts";

afterEach(() => Runtime._instance?.shutdown());

// deno-lint-ignore no-explicit-any
type Any = any;

const given = (options: Any): WorkerOptions => ({ taskQueue: "q", ...options });
const limited = (options: Any, warnings: string[] = []) =>
  limits(given(options), (message) => warnings.push(message));

const REFUSED: [object, RegExp][] = [
  [{ patchActivationCallback: () => true }, /WorkerOptions\.patchActivationCallback/],
  [
    { workflowFailureErrorTypes: { "*": ["RangeError"], order: ["NondeterminismError"] } },
    /WorkerOptions\.workflowFailureErrorTypes .*omit "NondeterminismError"/,
  ],
  [
    { workflowFailureErrorTypes: { "*": "Error" } },
    /WorkerOptions\.workflowFailureErrorTypes must have a list of names/,
  ],
  [
    { maxConcurentActivityTaskExecutions: 1 },
    /unknown option WorkerOptions\.maxConcurentActivityTaskExecutions|"maxConcurentActivityTaskExecutions"; did you mean/,
  ],
];

test("options that a worker cannot honor are rejected by name before anything is connected", async () => {
  for (const [options, message] of REFUSED) {
    assert.throws(() => refuseOptions(given(options)), message);
    await assert.rejects(Worker.create(given(options)), message);
  }
});

test("an option that requests nothing is not rejected", () => {
  refuseOptions(given({
    ...{
      useVersioning: false,
      nexusServices: [],
      workflowFailureErrorTypes: { "*": [] },
      showStackTraceSources: false,
      buildId: undefined,
    },
    ...{
      enableSDKTracing: true,
      reuseV8Context: false,
      maxConcurrentNexusTaskExecutions: 1,
      interceptors: { nexus: [() => ({})] },
    },
    ...{
      nexusTaskPollerBehavior: { type: "autoscaling" },
      bundlerOptions: { preloadModules: ["a"] },
    },
  }));
});

test("numeric and duration options have the official names and defaults", () => {
  const {
    heartbeatThrottle,
    workflowTaskPollerBehavior,
    activityTaskPollerBehavior,
    nexusTaskPollerBehavior,
    ...rest
  } = limited(
    {},
  );
  assert.deepEqual(rest, {
    ...{
      maxConcurrentWorkflowTasks: 40,
      maxConcurrentActivities: 100,
      maxConcurrentLocalActivities: 100,
      cachedWorkflows: 1000,
    },
    maxConcurrentNexusTasks: 100,
    ...{
      commonQueuePart: 0.2,
      localActivitiesOnly: false,
      stickyScheduleToStartTimeout: 10_000,
      shutdownGraceMs: 0,
    },
    ...{ payloadLimits: {}, watchdogMs: 5000 },
  });
  assert.deepEqual(heartbeatThrottle, { defaultMs: 30_000, maximumMs: 60_000 });
  assert.deepEqual([
    workflowTaskPollerBehavior,
    activityTaskPollerBehavior,
    nexusTaskPollerBehavior,
  ], [
    { type: "simple-maximum", maximum: 10 },
    { type: "simple-maximum", maximum: 10 },
    { type: "simple-maximum", maximum: 10 },
  ]);
  const all = limited({
    ...{
      maxConcurrentWorkflowTaskExecutions: 7,
      maxConcurrentActivityTaskExecutions: 8,
      maxConcurrentLocalActivityExecutions: 9,
      maxConcurrentNexusTaskExecutions: 6,
    },
    ...{
      maxCachedWorkflows: 20,
      maxConcurrentWorkflowTaskPolls: 3,
      maxConcurrentActivityTaskPolls: 4,
      maxConcurrentNexusTaskPolls: 2,
      nonStickyToStickyPollRatio: 0.5,
    },
    ...{
      maxActivitiesPerSecond: 10,
      maxTaskQueueActivitiesPerSecond: 11,
      maxEagerActivityReservationsPerWorkflowTask: 0,
    },
    ...{
      enableNonLocalActivities: false,
      stickyQueueScheduleToStartTimeout: "5s",
      shutdownGraceTime: "1 minute",
    },
    ...{
      maxHeartbeatThrottleInterval: "2s",
      defaultHeartbeatThrottleInterval: 100,
      disablePayloadErrorLimit: true,
      debugMode: true,
    },
    workflowThreadPoolSize: 2,
    workerDeploymentOptions: {
      version: { deploymentName: "a", buildId: "1" },
      useWorkerVersioning: false,
    },
  });
  assert.deepEqual(all, {
    ...{
      maxConcurrentWorkflowTasks: 7,
      maxConcurrentActivities: 8,
      maxConcurrentLocalActivities: 9,
      cachedWorkflows: 20,
    },
    workflowTaskPollerBehavior: { type: "simple-maximum", maximum: 3 },
    activityTaskPollerBehavior: { type: "simple-maximum", maximum: 4 },
    ...{
      maxConcurrentNexusTasks: 6,
      nexusTaskPollerBehavior: { type: "simple-maximum", maximum: 2 },
    },
    ...{
      commonQueuePart: 0.5,
      maxActivitiesPerSecond: 10,
      maxTaskQueueActivitiesPerSecond: 11,
      maxEagerActivities: 0,
    },
    ...{ localActivitiesOnly: true, stickyScheduleToStartTimeout: 5000, shutdownGraceMs: 60_000 },
    heartbeatThrottle: { defaultMs: 100, maximumMs: 2000 },
    ...{ payloadLimits: { errorBytes: Infinity }, watchdogMs: 0, workflowThreads: 2 },
    workerDeploymentOptions: {
      version: { deploymentName: "a", buildId: "1" },
      useWorkerVersioning: false,
    },
  });
});

test("a build id is reported; rule-based versioning needs one, as in the official SDK", () => {
  assert.deepEqual(limited({ buildId: "b1" }).buildStamp, { buildId: "b1", useVersioning: false });
  assert.deepEqual(limited({ buildId: "b1", useVersioning: true }).buildStamp, {
    buildId: "b1",
    useVersioning: true,
  });
  assert.throws(
    () => limited({ useVersioning: true }),
    /^TypeError: Must provide a buildId if useVersioning is true$/,
  );
});

test("contradicting options are corrected with a warning or rejected", () => {
  const warnings: string[] = [];
  assert.equal(limited({ maxCachedWorkflows: 1 }, warnings).cachedWorkflows, 2);
  assert.equal(
    limited({ maxCachedWorkflows: 5, maxConcurrentWorkflowTaskExecutions: 9 }, warnings)
      .maxConcurrentWorkflowTasks,
    5,
  );
  assert.equal(
    limited({ maxConcurrentWorkflowTaskExecutions: 1 }, warnings).maxConcurrentWorkflowTasks,
    2,
  );
  assert.equal(
    limited({ maxCachedWorkflows: 0, maxConcurrentWorkflowTaskExecutions: 1 }, warnings)
      .maxConcurrentWorkflowTasks,
    1,
  );
  assert.equal(warnings.length, 3);
  assert.throws(
    () => limited({ maxEagerActivityReservationsPerWorkflowTask: -1 }),
    /must be a non-negative integer/,
  );
});

test("invalid numbers of slots are rejected with the option's name", () => {
  for (const kind of ["ActivityTask", "LocalActivity", "NexusTask"]) {
    const name = `maxConcurrent${kind}Executions`;
    for (const value of [0, -1, 1.5, Number.NaN]) {
      const message = `WorkerOptions.${name} must be a whole number of at least 1, not ${value}`;
      assert.throws(() => limited({ [name]: value }), { name: "TypeError", message });
    }
  }
});

test("autoscaling pollers are accepted, and an unknown poller behavior is rejected", () => {
  const autoscaling = { type: "autoscaling", maximum: 3 };
  assert.deepEqual(
    limited({ activityTaskPollerBehavior: autoscaling }).activityTaskPollerBehavior,
    {
      ...{ type: "autoscaling", minimum: 1, maximum: 3, initial: 3 },
    },
  );
  assert.throws(
    () => limited({ workflowTaskPollerBehavior: { type: "many" } }),
    /Unknown poller behavior type: many/,
  );
});

test("a fixed-size tuner is honored; a resource-based tuner is rejected", () => {
  const fixed = (numSlots: number) => ({ type: "fixed-size", numSlots });
  const tuner = {
    ...{ workflowTaskSlotSupplier: fixed(11), activityTaskSlotSupplier: fixed(12) },
    ...{ localActivityTaskSlotSupplier: fixed(13), nexusTaskSlotSupplier: fixed(14) },
  };
  const {
    maxConcurrentWorkflowTasks,
    maxConcurrentActivities,
    maxConcurrentLocalActivities,
    maxConcurrentNexusTasks,
  } = limited({
    tuner,
  });
  assert.deepEqual([maxConcurrentWorkflowTasks, maxConcurrentActivities], [11, 12]);
  assert.deepEqual([maxConcurrentLocalActivities, maxConcurrentNexusTasks], [13, 14]);
  assert.throws(
    () => limited({ tuner, maxConcurrentActivityTaskExecutions: 1 }),
    /Cannot set both tuner and maxConcurrentActivityTaskExecutions/,
  );
  const tunerOptions = { targetMemoryUsage: 0.8, targetCpuUsage: 0.9 };
  assert.throws(
    () => limited({ tuner: { tunerOptions } }),
    /WorkerOptions\.tuner with tunerOptions .*maxConcurrentWorkflowTaskExecutions/,
  );
  const custom = { ...tuner, activityTaskSlotSupplier: { type: "custom" } };
  assert.throws(
    () => limited({ tuner: custom }),
    /WorkerOptions\.tuner\.activityTaskSlotSupplier of type "custom"/,
  );
  assert.throws(
    () => ResourceBasedController.create(tunerOptions),
    /ResourceBasedController cannot be used/,
  );
});

test("the options of a connection are checked and used", () => {
  const key = () => "key";
  const pem = (text: string) => new TextEncoder().encode(text);
  const options = connectOptions({
    address: "https://temporal.example.com",
    tls: {
      ...{ serverNameOverride: "name", serverRootCACertificate: pem("ca") },
      clientCertPair: { crt: pem("crt"), key: pem("secret") },
    },
    metadata: { a: "b" },
    apiKey: "key",
    grpcCompression: { codec: "none" },
    dnsLoadBalancingConfig: null,
  }, key);
  assert.deepEqual(options, {
    address: "temporal.example.com:7233",
    tls: {
      serverName: "name",
      serverRootCaCertificate: "ca",
      clientCertificate: "crt",
      clientKey: "secret",
    },
    metadata: { a: "b" },
    apiKey: key,
  });
  assert.throws(
    () => connectOptions({ grpcCompression: { codec: "gzip" } }, key),
    /grpcCompression with gzip cannot be used/,
  );
  assert.throws(
    () => connectOptions({ dnsLoadBalancingConfig: { resolutionInterval: 1 } }, key),
    /dnsLoadBalancingConfig/,
  );
  const clientCertPair = { crt: pem("crt"), key: pem("secret"), passphrase: "p" };
  assert.throws(() => connectOptions({ tls: { clientCertPair } }, key), /passphrase .*openssl/);
});

test("the runtime is installed once, and options of the native library are rejected", () => {
  const logger = new DefaultLogger("ERROR", () => {});
  const runtime = Runtime.install({ logger, shutdownSignals: [] });
  assert.equal(Runtime.instance(), runtime);
  assert.equal(runtime.logger, logger);
  assert.throws(() => Runtime.install({}), /Runtime singleton has already been installed/);
  void runtime.shutdown();
  Runtime.instance();
  assert.throws(
    () => Runtime.install({}),
    /has already been instantiated\. Did you start a Worker before calling `install`\?/,
  );
  void Runtime.instance().shutdown();
  const refused = (options: Any, message: RegExp) =>
    assert.throws(() => Runtime.install(options), message);
  refused({ workerHeartbeatInterval: "10s" }, /RuntimeOptions\.workerHeartbeatInterval/);
  refused(
    { telemetryOptions: { metrics: { otel: { url: "http://x" } } } },
    /telemetryOptions\.metrics\.otel/,
  );
  refused(
    { telemetryOptions: { metrics: { buffer: {} } } },
    /telemetryOptions\.metrics\.buffer .*metrics\.prometheus/,
  );
  assert.throws(
    () => new MetricsBuffer({ maxBufferSize: 10 }),
    /^TypeError: MetricsBuffer cannot be used .*metrics\.prometheus/,
  );
  refused(
    { telemetryOptions: { logging: { console: { format: "json" } } } },
    /logging\.console\.format/,
  );
  refused(
    { telemetryOptions: { logging: { filter: "nothing" } } },
    /has no level for temporalio_sdk_core/,
  );
  const filter = makeTelemetryFilterString({ core: "DEBUG" });
  assert.equal(
    filter,
    "ERROR,temporalio_sdk_core=DEBUG,temporalio_client=DEBUG,temporalio_common=DEBUG",
  );
  assert.equal(
    Runtime.install({ telemetryOptions: { logging: { filter } } }).options.coreLevel,
    "DEBUG",
  );
});

test("the default logger supports levels, times and its deprecated functions", async () => {
  const entries: LogEntry[] = [];
  const logger = new DefaultLogger("INFO", (entry) => entries.push(entry));
  logger.debug("not written");
  logger.warn("written", { a: 1, [LogTimestamp]: 5n });
  logger.info("bare");
  assert.deepEqual(entries[0], {
    level: "WARN",
    message: "written",
    timestampNanos: 5n,
    meta: { a: 1 },
  });
  assert.equal(entries[1]!.meta, undefined);
  assert.deepEqual(defaultSinks(), {});
  const interceptors = { activity: [] };
  assert.equal(appendDefaultInterceptors(interceptors), interceptors);
});
