// What a client and a worker of `@temporalio/*` do with standalone activities: the same scenarios for
// the official packages and for those of this repository. Values that differ between two runs are
// left out.

// deno-lint-ignore no-explicit-any
type Loose = any;

export interface Packages {
  readonly client: Loose;
  readonly worker: Loose;
  readonly activity: Loose;
  readonly common: Loose;
}

/** Cause chain of an error: names and messages. */
function chain(error: Loose): string[] {
  const found: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause as Loose) {
    found.push(`${at.name}: ${at.message}`);
  }
  return found;
}

async function thrownBy(call: () => Promise<unknown>): Promise<Loose> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

function makeActivities({ activity, common }: Packages, started: Set<string>) {
  const listen = async () => {
    started.add(activity.activityInfo().activityId);
    const context = activity.Context.current();
    for (;;) {
      context.heartbeat("alive");
      await context.sleep(50);
    }
  };
  return {
    echo: async (value: unknown) => value,
    fail: async () => {
      throw common.ApplicationFailure.nonRetryable("failure", "Kind", "detail");
    },
    flaky: async () => {
      const { attempt } = activity.activityInfo();
      if (attempt < 3) throw new Error(`attempt ${attempt}`);
      return attempt;
    },
    listen,
    info: async () => {
      const info = activity.activityInfo();
      const { inWorkflow, workflowExecution, workflowType, workflowNamespace, namespace } = info;
      return [
        inWorkflow,
        workflowExecution,
        workflowType,
        workflowNamespace,
        namespace,
        info.activityRunId.length,
      ];
    },
    later: async () => {
      started.add(activity.activityInfo().activityId);
      throw new activity.CompleteAsyncError();
    },
  };
}

/** Runs all scenarios and returns what came of them. */
export async function standaloneScenarios(
  packages: Packages,
  address: string,
  taskQueue: string,
): Promise<Record<string, unknown>> {
  const started = new Set<string>();
  const until = async (id: string) => {
    while (!started.has(id)) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const { Client, Connection } = packages.client;
  const connection = await Connection.connect({ address });
  const native = await packages.worker.NativeConnection.connect({ address });
  const activities = makeActivities(packages, started);
  const worker = await packages.worker.Worker.create({ connection: native, taskQueue, activities });
  const running = worker.run();
  const client = new Client({ connection });
  const options = { taskQueue, scheduleToCloseTimeout: "1 minute" };
  const id = (name: string) => `${taskQueue}-${name}`;
  try {
    return {
      ...await results(client, options, id),
      ...await ends(client, options, id, until),
      ...await lists(client, options, id),
      ...await operated(client, options, id),
    };
  } finally {
    worker.shutdown();
    await running;
    await native.close();
    await connection.close();
  }
}

type Id = (name: string) => string;

async function results(client: Loose, options: Loose, id: Id) {
  const handle = await client.activity.start("echo", {
    ...options,
    id: id("echo"),
    args: ["hello"],
    summary: "a summary",
    priority: { priorityKey: 2 },
    retry: { maximumAttempts: 7 },
  });
  const result = await handle.result();
  const described = await handle.describe({ includeInput: true, includeOutcome: true });
  const { status, attempt, activityType, retryPolicy, priority } = described;
  const failed = await thrownBy(() =>
    client.activity.execute("fail", { ...options, id: id("fail") })
  );
  return {
    result,
    described: {
      status,
      attempt,
      activityType,
      maximumAttempts: retryPolicy.maximumAttempts,
      priority,
      isSameRun: described.activityRunId === handle.runId,
      input: await described.getInput(),
      output: await described.getResult(),
      hasOutcomeFailure: described.hasOutcomeFailure,
      scheduleToCloseTimeoutMs: described.scheduleToCloseTimeoutMs,
      isClosed: described.closeTime instanceof Date,
    },
    failed: chain(failed),
    details: failed.cause.details,
    flaky: await client.activity.typed().execute("flaky", {
      ...options,
      id: id("flaky"),
      retry: { initialInterval: 10 },
    }),
    info: await client.activity.execute("info", { ...options, id: id("info") }),
  };
}

async function ends(client: Loose, options: Loose, id: Id, until: (id: string) => Promise<void>) {
  const beating = { ...options, heartbeatTimeout: "5s" };
  const canceled = await client.activity.start("listen", { ...beating, id: id("cancel") });
  await until(id("cancel"));
  const taken = await thrownBy(() =>
    client.activity.start("listen", { ...beating, id: id("cancel") })
  );
  const used = await client.activity.start("listen", {
    ...beating,
    id: id("cancel"),
    idConflictPolicy: "USE_EXISTING",
  });
  await canceled.cancel("test cancellation");
  const cancellation = await thrownBy(() => canceled.result());
  const { status, canceledReason } = await canceled.describe();
  const terminated = await client.activity.start("listen", { ...beating, id: id("terminate") });
  await until(id("terminate"));
  await terminated.terminate("test termination");
  const termination = await thrownBy(() => terminated.result());
  const late = await thrownBy(() =>
    client.activity.execute("echo", {
      ...options,
      taskQueue: "no-worker",
      id: id("late"),
      scheduleToStartTimeout: 100,
    })
  );
  const closed = await thrownBy(() =>
    client.activity.start("echo", {
      ...options,
      id: id("echo"),
      idReusePolicy: "REJECT_DUPLICATE",
    })
  );
  const later = await client.activity.start("later", { ...options, id: id("later") });
  await until(id("later"));
  await client.activity.heartbeat({ activityId: id("later"), runId: later.runId }, "beat");
  const { getHeartbeatDetails } = await later.describe({ includeHeartbeatDetails: true });
  const beat = await getHeartbeatDetails();
  await client.activity.complete({ activityId: id("later"), runId: later.runId }, "from elsewhere");
  return {
    taken: chain(taken),
    isTakenRun: taken.runId === canceled.runId,
    isUsedRun: used.runId === canceled.runId,
    cancellation: chain(cancellation),
    canceled: { status, canceledReason },
    termination: chain(termination),
    terminated: (await terminated.describe()).status,
    late: chain(late),
    timeoutType: late.cause.timeoutType,
    closed: chain(closed),
    later: await later.result(),
    beat,
    missing: chain(await thrownBy(() => client.activity.getHandle(id("missing")).describe())),
    missingResult: chain(await thrownBy(() => client.activity.getHandle(id("missing")).result())),
    closedCancel: chain(await thrownBy(() => later.cancel("late"))),
    noQueue: chain(await thrownBy(() => client.activity.start("echo", { id: "x" }))),
    noTimeout: chain(
      await thrownBy(() => client.activity.start("echo", { id: "x", taskQueue: "q" })),
    ),
  };
}

async function lists(client: Loose, options: Loose, id: Id) {
  for (const name of ["a", "a", "b"]) {
    await client.activity.execute("echo", { ...options, id: id(`list-${name}`), args: [name] });
  }
  const query = `ActivityId STARTS_WITH '${id("list-")}'`;
  const found: string[] = [];
  for await (const info of client.activity.list(query)) {
    found.push(`${info.activityId.slice(id("").length)} ${info.activityType} ${info.status}`);
  }
  const grouped = await client.activity.count(`${query} GROUP BY ExecutionStatus`);
  return {
    listed: found.sort(),
    counted: (await client.activity.count(query)).count,
    grouped: grouped.groups,
    badQuery: chain(await thrownBy(() => client.activity.count("StartTim > 1"))).slice(0, 1),
  };
}

async function operated(client: Loose, options: Loose, id: Id) {
  const handle = await client.activity.start("echo", {
    ...options,
    id: id("operated"),
    args: ["late"],
    startDelay: "1 hour",
  });
  await handle.pause({ reason: "wait" });
  const { status, runState } = await handle.describe();
  const changed = await handle.updateOptions({ startDelay: null, startToCloseTimeout: "9s" });
  await handle.unpause();
  const result = await handle.result();
  const another = await client.activity.start("echo", {
    ...options,
    id: id("restored"),
    startDelay: "1 hour",
  });
  await another.updateOptions({ taskQueue: "elsewhere" });
  const restored = await another.restoreOriginalOptions();
  await another.terminate("done");
  return {
    paused: { status, runState },
    changed: [changed.startDelay, changed.startToCloseTimeout],
    operated: result,
    isRestored: restored.taskQueue === options.taskQueue,
  };
}
