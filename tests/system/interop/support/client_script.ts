// What programs do with `@temporalio/client`, as a script for the official package and this one:
// each step returns what a program would print. Ids and times are omitted, so that two runs of the
// script are equal.

// deno-lint-ignore no-explicit-any
type Any = any;

/**
 * A package in the shape of `@temporalio/client`, with what the script needs of
 * `@temporalio/common`.
 */
export interface Packages {
  // deno-lint-ignore no-explicit-any
  readonly client: any;
  // deno-lint-ignore no-explicit-any
  readonly common: any;
}

/** Says what was thrown, with its causes: class, message and the fields of programs. */
function thrown(error: Any): unknown {
  if (!(error instanceof Error)) return String(error);
  const e = error as Any;
  const fields: { [name: string]: unknown } = {
    name: e.name,
    message: e.message.replaceAll(/[0-9a-f-]{36}/g, "<id>"),
  };
  for (
    const field of [
      "type",
      "nonRetryable",
      "details",
      "retryState",
      "timeoutType",
      "status",
      "code",
      "workflowType",
      "namespace",
    ]
  ) {
    if (e[field] !== undefined && typeof e[field] !== "function") fields[field] = e[field];
  }
  if (e.cause !== undefined) fields["cause"] = thrown(e.cause);
  return fields;
}

async function outcome(fn: () => Promise<unknown> | unknown): Promise<unknown> {
  try {
    return await fn() ?? "nothing";
  } catch (error) {
    return { thrown: thrown(error) };
  }
}

/** The steps, by name. `prefix` begins the ids of workflows. */
export function clientScript(
  { client: lib, common }: Packages,
  connection: Any,
  { taskQueue, prefix, tokenOf }: {
    taskQueue: string;
    prefix: string;
    tokenOf: (workflowId: string) => Promise<Uint8Array>;
  },
): { readonly [name: string]: () => Promise<unknown> } {
  const client = new lib.Client({ connection, identity: "script" });
  const wf = client.workflow;
  const id = (name: string) => `${prefix}-${name}`;
  const start = (type: string, name: string, more: object = {}) =>
    wf.start(type, { taskQueue, workflowId: id(name), ...more });
  return {
    "execute": () =>
      wf.execute("echo", { taskQueue, workflowId: id("execute"), args: [{ a: [1, null, "x"] }] }),
    "execute a function": async () => {
      async function echo(n: number): Promise<number> {
        return n;
      }
      return await wf.execute(echo, { taskQueue, workflowId: id("fn"), args: [7] });
    },
    "undefined and bytes": async () => [
      await wf.execute("echo", { taskQueue, workflowId: id("undef"), args: [undefined] }) ===
        undefined,
      [
        ...await wf.execute("echo", {
          taskQueue,
          workflowId: id("bytes"),
          args: [new Uint8Array([1, 2])],
        }),
      ],
    ],
    "a failure": () => outcome(() => wf.execute("fails", { taskQueue, workflowId: id("fails") })),
    "signals, queries, updates": async () => {
      const handle = await start("counter", "messages", { args: [1] });
      await handle.signal("add", 2);
      await handle.signal({ type: "signal", name: "add" }, 3);
      await handle.signalWithOptions("add", { args: [4] });
      const said = [
        await handle.query("total"),
        await handle.executeUpdate("addAndGet", { args: [5] }),
        await outcome(() => handle.executeUpdate("addAndGet", { args: [-1] })),
        await outcome(() =>
          handle.executeUpdate("addAndGet", { args: [13], updateId: "thirteen" })
        ),
        await outcome(() => handle.executeUpdate("nope", { args: [1] })),
        await outcome(() => handle.query("nope")),
      ];
      const update = await handle.startUpdate("addAndGet", {
        args: [10],
        waitForStage: "ACCEPTED",
        updateId: "ten",
      });
      said.push(update.updateId, update.workflowId === id("messages"), await update.result());
      said.push(
        await handle.getUpdateHandle("ten").result(),
        await outcome(() => handle.getUpdateHandle("thirteen").result()),
      );
      await handle.signal("finish");
      said.push(
        await handle.result(),
        await wf.getHandle(id("messages")).result(),
        await wf.result(id("messages")),
      );
      const closed = wf.getHandle(id("messages"));
      said.push(
        await outcome(() => closed.signal("add", 1)),
        await outcome(() => closed.terminate()),
        await closed.query("total"),
      );
      const picky = new lib.WorkflowClient({ connection, queryRejectCondition: "NOT_OPEN" });
      said.push(await outcome(() => picky.getHandle(id("messages")).query("total")));
      return said;
    },
    "cancel": async () => {
      const handle = await start("forever", "cancel");
      await handle.cancel();
      return await outcome(() => handle.result());
    },
    "terminate": async () => {
      const handle = await start("forever", "terminate");
      await handle.terminate("enough");
      const described = await handle.describe();
      return [await outcome(() => handle.result()), described.status.name, described.status.code];
    },
    "a timeout of the run": () =>
      outcome(() =>
        wf.execute("forever", { taskQueue, workflowId: id("timeout"), workflowRunTimeout: "1s" })
      ),
    "continue as new": async () => [
      await wf.execute("again", { taskQueue, workflowId: id("again"), args: [2] }),
      await outcome(async () =>
        (await start("again", "again2", { args: [1], followRuns: false })).result()
      ),
    ],
    "not there": async () => [
      await outcome(() => wf.getHandle(id("nowhere")).signal("x")),
      await outcome(() => wf.getHandle(id("nowhere")).describe()),
      await outcome(() => wf.getHandle(id("nowhere")).result()),
      await outcome(() => wf.getHandle(id("nowhere")).query("x")),
      await outcome(() => wf.getHandle(id("nowhere")).cancel()),
      await outcome(() => wf.getHandle(id("nowhere")).executeUpdate("x")),
      await outcome(() => wf.getHandle(id("nowhere")).fetchHistory()),
    ],
    "already started": async () => {
      const handle = await start("forever", "taken");
      const said = [await outcome(() => start("forever", "taken"))];
      const other = await start("forever", "taken", { workflowIdConflictPolicy: "USE_EXISTING" });
      said.push(other.firstExecutionRunId === handle.firstExecutionRunId);
      await handle.terminate();
      said.push(
        await outcome(() =>
          start("forever", "taken", { workflowIdReusePolicy: "REJECT_DUPLICATE" })
        ),
      );
      said.push(await outcome(() => start("forever", "x", { workflowIdReusePolicy: "NONSENSE" })));
      said.push(
        await outcome(() => wf.start("forever", { workflowId: "x" })),
        await outcome(() => wf.start("forever", { taskQueue })),
      );
      return said;
    },
    "options of a start": async () => {
      const handle = await start("counter", "options", {
        args: [5],
        memo: { note: { a: 1 } },
        workflowExecutionTimeout: "1 hour",
        workflowRunTimeout: "30m",
        workflowTaskTimeout: 5000,
        retry: { maximumAttempts: 3, initialInterval: "2s" },
        staticSummary: "a summary",
        staticDetails: "some\ndetails",
        priority: { priorityKey: 2 },
      });
      await handle.query("total");
      const d = await handle.describe();
      const { events } = await handle.fetchHistory();
      const a = events[0].workflowExecutionStartedEventAttributes;
      await handle.terminate();
      const seconds = (duration: Any) => duration && Number(duration.seconds);
      return [
        [
          d.type,
          d.workflowId === id("options"),
          d.taskQueue === taskQueue,
          d.status.name,
          d.memo,
          d.startTime instanceof Date,
        ],
        [
          await d.staticSummary(),
          await d.staticDetails(),
          d.closeTime ?? null,
          d.parentExecution ?? null,
          typeof d.historyLength,
        ],
        [
          typeof d.raw.workflowExecutionInfo.historyLength.toNumber(),
          d.searchAttributes,
          d.typedSearchAttributes.getAll().length,
        ],
        [
          a.workflowType.name,
          a.identity,
          a.attempt,
          a.retryPolicy.maximumAttempts,
          seconds(a.retryPolicy.initialInterval),
        ],
        [
          seconds(a.workflowExecutionTimeout),
          seconds(a.workflowRunTimeout),
          seconds(a.workflowTaskTimeout),
        ],
        [
          a.input.payloads.length,
          new TextDecoder().decode(a.input.payloads[0].data),
          Object.keys(a.memo.fields),
        ],
        [
          events[0].eventId.toString(),
          events[0].eventType,
          Number(events[0].eventTime.seconds) > 1e9,
        ],
      ];
    },
    "signal with start": async () => {
      const options = {
        taskQueue,
        workflowId: id("sws"),
        args: [10],
        signal: "add",
        signalArgs: [5],
      };
      const handle = await wf.signalWithStart("counter", options);
      const second = await wf.signalWithStart("counter", {
        ...options,
        signal: { type: "signal", name: "add" },
        signalArgs: [1],
      });
      await handle.signal("finish");
      return [await handle.result(), handle.signaledRunId === second.signaledRunId];
    },
    "update with start": async () => {
      const operation = () =>
        new lib.WithStartWorkflowOperation("counter", {
          taskQueue,
          workflowId: id("uws"),
          args: [100],
          workflowIdConflictPolicy: "USE_EXISTING",
        });
      const first = operation();
      const said = [
        await wf.executeUpdateWithStart("addAndGet", { args: [1], startWorkflowOperation: first }),
      ];
      const handle = await first.workflowHandle();
      const update = await wf.startUpdateWithStart("addAndGet", {
        args: [2],
        waitForStage: "ACCEPTED",
        startWorkflowOperation: operation(),
      });
      said.push(await update.result());
      const again = { args: [1], startWorkflowOperation: first };
      said.push(await outcome(() => wf.executeUpdateWithStart("addAndGet", again)));
      said.push(
        await outcome(() =>
          wf.executeUpdateWithStart("addAndGet", {
            args: [-1],
            startWorkflowOperation: operation(),
          })
        ),
      );
      const fail = new lib.WithStartWorkflowOperation("counter", {
        taskQueue,
        workflowId: id("uws"),
        workflowIdConflictPolicy: "FAIL",
      });
      said.push(
        await outcome(() =>
          wf.executeUpdateWithStart("addAndGet", { args: [1], startWorkflowOperation: fail })
        ),
      );
      said.push(await outcome(() => fail.workflowHandle()));
      await handle.signal("finish");
      said.push(await handle.result());
      return said;
    },
    "interceptors": async () => {
      const seen: string[] = [];
      const one = (name: string) =>
        new Proxy({}, {
          get: (_, method) =>
            [
                "start",
                "startWithDetails",
                "signal",
                "query",
                "terminate",
                "describe",
                "cancel",
                "startUpdate",
              ].includes(
                method as string,
              ) &&
              !(method === "start" && name === "new") &&
              !(method === "startWithDetails" && name === "old")
              ? (input: Any, next: Any) => {
                seen.push(`${name} ${String(method)} ${Object.keys(input).sort().join(",")}`);
                return next(input);
              }
              : undefined,
          ownKeys: () => name === "old" ? ["start"] : [],
          getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
        });
      const header: Any = {
        start: (input: Any, next: Any) =>
          next({ ...input, options: { ...input.options, args: [41] } }),
      };
      const intercepted = new lib.Client({
        connection,
        interceptors: { workflow: [one("new"), header] },
      });
      const handle = await intercepted.workflow.start("counter", {
        taskQueue,
        workflowId: id("icpt"),
        args: [1],
      });
      await handle.signal("add", 1);
      seen.push(
        String(await handle.query("total")),
        String(await handle.executeUpdate("addAndGet", { args: [1] })),
      );
      await handle.describe();
      await handle.cancel();
      // The workflow may have ended by the request.
      await handle.terminate("done").catch(() => {});
      return seen;
    },
    "codecs and converters": async () => {
      const flip = (data: Uint8Array) => data.map((byte) => byte ^ 0xff);
      const codec = {
        encode: (payloads: Any[]) =>
          Promise.resolve(
            payloads.map((p) => ({
              metadata: { encoding: common.u8("binary/flipped"), was: p.metadata.encoding },
              data: flip(p.data),
            })),
          ),
        decode: (payloads: Any[]) =>
          Promise.resolve(
            payloads.map((p) =>
              common.str(p.metadata.encoding) === "binary/flipped"
                ? { metadata: { encoding: p.metadata.was }, data: flip(p.data) }
                : p
            ),
          ),
      };
      const coded = new lib.Client({ connection, dataConverter: { payloadCodecs: [codec] } });
      const handle = await coded.workflow.start("forever", {
        taskQueue,
        workflowId: id("coded"),
        memo: { secret: "plain" },
        staticSummary: "in short",
      });
      const mine = await handle.describe();
      const theirs = await wf.getHandle(id("coded")).describe().catch((error: Error) =>
        error.message
      );
      const listed = async () => {
        for (;;) {
          for await (
            const info of coded.workflow.list({ query: `WorkflowId = "${id("coded")}"` })
          ) return info;
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      };
      const one = await listed();
      await handle.terminate();
      // `raw` is as it is stored.
      const encodings = [mine.raw.workflowExecutionInfo.memo, one.raw.memo].map((memo) =>
        common.str(memo.fields.secret.metadata.encoding)
      );
      const started =
        (await handle.fetchHistory()).events[0].workflowExecutionStartedEventAttributes;
      return [
        mine.memo,
        theirs,
        one.memo,
        encodings,
        common.str(started.memo.fields.secret.metadata.encoding),
      ];
    },
    "a deadline, a signal": async () => {
      const handle = await start("forever", "deadline");
      const controller = new AbortController();
      const late = await client.withDeadline(Date.now() + 1000, () => handle.result()).catch((
        e: unknown,
      ) => e);
      setTimeout(() => controller.abort(), 250);
      const errors = [
        late,
        await client.withAbortSignal(controller.signal, () => handle.result()).catch((e: unknown) =>
          e
        ),
        await client.withMetadata({ "x-mine": "yes" }, () => handle.describe()).then((d: Any) =>
          d.status.name
        ),
      ];
      await handle.terminate();
      return [
        [
          lib.isGrpcDeadlineError(errors[0]),
          lib.isGrpcServiceError(errors[0]),
          errors[0].name,
          errors[0].message,
        ],
        [
          lib.isGrpcCancelledError(errors[1]),
          errors[1].name,
          errors[1].message,
          lib.isGrpcServiceError(errors[1].cause),
        ],
        errors[2],
      ];
    },
    "another namespace": async () => {
      const other = new lib.Client({ connection, namespace: "not-there" });
      return await outcome(() => other.workflow.start("echo", { taskQueue, workflowId: id("ns") }));
    },
    "raw calls": async () => {
      const described = await connection.workflowService.describeNamespace({
        namespace: "default",
      });
      const missing = await connection.workflowService.describeNamespace({ namespace: "no-such" })
        .catch((error: Any) => error);
      return [
        described.namespaceInfo.name,
        lib.isGrpcServiceError(missing),
        missing.code,
        missing.message === `5 NOT_FOUND: ${missing.details}`,
      ];
    },
    "an activity can be completed from outside": async () => {
      const said = [];
      for (
        const [name, complete] of Object.entries<(address: Any) => Promise<unknown>>({
          result: (address) => client.activity.complete(address, "from outside"),
          failure: (address) =>
            client.activity.fail(
              address,
              common.ApplicationFailure.nonRetryable("not today", "Late"),
            ),
          ids: () =>
            client.activity.complete({ workflowId: id("act-ids"), activityId: "1" }, "by ids"),
        })
      ) {
        const handle = await start("waits", `act-${name}`);
        const token = await tokenOf(id(`act-${name}`));
        await client.activity.heartbeat(token, { half: true });
        await complete(token);
        said.push(
          await outcome(() => handle.result()),
          await outcome(() => client.activity.complete(token, 1)),
        );
      }
      return said;
    },
    "lists and counts": async () => {
      const query = `WorkflowId STARTS_WITH '${prefix}-l-'`;
      const handles = [];
      for (const name of ["l-1", "l-2", "l-3"]) handles.push(await start("forever", name));
      const wanted = `${query} AND ExecutionStatus = 'Running'`;
      for (
        const until = Date.now() + 20_000;
        (await wf.count(wanted)).count < 3 && Date.now() < until;
      ) {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const listed: string[] = [];
      for await (const info of wf.list({ query: wanted, pageSize: 2 })) {
        listed.push(
          `${info.workflowId.slice(prefix.length)} ${info.type} ${info.status.name} ${
            info.memo === undefined
          }`,
        );
      }
      const histories: string[] = [];
      for await (const { workflowId, history } of wf.list({ query: wanted }).intoHistories()) {
        histories.push(`${workflowId.slice(prefix.length)} ${history.events[0].eventType}`);
      }
      const count = await wf.count(wanted);
      for (const handle of handles) await handle.terminate();
      return [listed.sort(), histories.sort(), count, await outcome(() => wf.count("nonsense ="))];
    },
  };
}

/** Steps about schedules, for servers that have some. */
export function scheduleScript(
  { client: lib }: Packages,
  connection: Any,
  { taskQueue, prefix }: { taskQueue: string; prefix: string },
): { readonly [name: string]: () => Promise<unknown> } {
  const { schedule } = new lib.Client({ connection });
  const scheduleId = `${prefix}-schedule`;
  const options = {
    scheduleId,
    spec: {
      intervals: [{ every: "1 hour", offset: "5m" }],
      calendars: [{
        hour: 6,
        dayOfWeek: [{ start: "MONDAY", end: "FRIDAY" }],
        comment: "mornings",
      }],
      jitter: "10s",
    },
    action: {
      type: "startWorkflow",
      workflowType: "echo",
      args: ["scheduled"],
      taskQueue,
      workflowRunTimeout: "1 minute",
    },
    policies: { overlap: "ALLOW_ALL", catchupWindow: "1 day", pauseOnFailure: true },
    memo: { kept: 1 },
    state: { paused: true, note: "not yet", remainingActions: 3 },
  };
  return {
    "schedules": async () => {
      const handle = await schedule.create(options);
      const said: unknown[] = [await outcome(() => schedule.create(options))];
      const shown = (d: Any) => [
        d.scheduleId === scheduleId,
        [d.spec.intervals, d.spec.calendars, d.spec.jitter],
        [d.action.type, d.action.workflowType, d.action.args, d.action.workflowRunTimeout],
        [d.policies, d.memo, d.state, d.searchAttributes],
        [
          d.info.numActionsTaken,
          d.info.recentActions,
          d.info.runningActions,
          d.info.nextActionTimes.length > 0,
        ],
        d.info.createdAt instanceof Date,
      ];
      said.push(shown(await handle.describe()));
      await handle.update((previous: Any) => ({
        ...previous,
        state: { paused: true, note: "changed" },
        spec: { cronExpressions: ["0 12 * * *"] },
      }));
      said.push(shown(await handle.describe()));
      await handle.unpause();
      await handle.pause("again");
      said.push((await handle.describe()).state);
      await handle.trigger();
      for (
        const until = Date.now() + 20_000;
        (await handle.describe()).info.numActionsTaken < 1 && Date.now() < until;
      ) {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const after = await handle.describe();
      said.push(
        after.info.numActionsTaken,
        after.info.recentActions[0].action.type,
        after.info.recentActions[0].takenAt instanceof Date,
      );
      await handle.delete();
      said.push(
        await outcome(() => handle.describe()),
        await outcome(() => schedule.getHandle(`${prefix}-none`).pause()),
      );
      return said;
    },
  };
}
