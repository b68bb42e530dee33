// A Nexus service whose handlers do what its caller asks for. Both SDKs serve it: the packages come
// as arguments.

/** The service's contract, for callers too: `nexus` is nexus-rpc. */
export function contract(nexus) {
  return nexus.service("tests", {
    echo: nexus.operation(),
    about: nexus.operation(),
    throws: nexus.operation(),
    slow: nexus.operation(),
    run: nexus.operation({ name: "run a workflow" }),
    temporal: nexus.operation(),
    odd: nexus.operation(),
  });
}

/** What the operation "throws" throws at an attempt. */
function thrown(nexus, common, input, attempt) {
  const cause = input.caused
    ? common.ApplicationFailure.create({ message: "deep", type: "Deep", details: [{ a: 1 }] })
    : undefined;
  switch (input.kind) {
    case "operation":
      return new nexus.OperationError(input.state, input.message, { cause });
    case "handler":
      return new nexus.HandlerError(input.type, input.message, {
        cause,
        retryableOverride: input.retryable,
      });
    case "application":
      return common.ApplicationFailure.create({
        message: input.message,
        type: "Own",
        nonRetryable: true,
        details: [1, "two"],
      });
    case "first":
      return attempt === 1 ? new nexus.HandlerError(input.type, "not yet") : undefined;
    case "plain first":
      return attempt === 1 ? new Error("not yet") : undefined;
    case "retryable first":
      return attempt === 1 ? common.ApplicationFailure.create({ message: "not yet" }) : undefined;
    case "started":
      return new common.WorkflowExecutionAlreadyStartedError(
        "already there",
        "some-id",
        "someType",
      );
    default:
      return new Error(`no kind ${input.kind}`);
  }
}

/**
 * The services. `temporal` is @temporalio/nexus, `common` is @temporalio/common; `noted` is called
 * with what handlers see.
 */
export function services(nexus, temporal, common, noted = () => {}) {
  /** By the request: how often it came. */
  const attempts = new Map();
  const start = (ctx, input) =>
    temporal.startWorkflow(ctx, "backing", {
      workflowId: input.workflowId,
      taskQueue: input.taskQueue,
      args: [input],
      ...(input.conflict && { workflowIdConflictPolicy: input.conflict }),
    });
  const handlers = {
    echo: async (_ctx, input) => input,
    about: async (ctx, input) => {
      const { namespace, endpoint } = temporal.operationInfo();
      temporal.log.info("about", { some: "field" });
      temporal.metricMeter.createCounter("calls").add(1);
      const left = ctx.requestDeadline === undefined
        ? undefined
        : ctx.requestDeadline.getTime() - Date.now();
      return {
        ...{ namespace, endpoint, input, service: ctx.service, operation: ctx.operation },
        own: ctx.headers["X-Own"],
        requestId: typeof ctx.requestId === "string" && ctx.requestId !== "",
        hasDeadline: left > 0 && left < 60_000,
        links: ctx.inboundLinks.map(({ type }) => type),
        client: typeof temporal.getClient().workflow.start,
      };
    },
    throws: async (ctx, input) => {
      const attempt = (attempts.get(ctx.requestId) ?? 0) + 1;
      attempts.set(ctx.requestId, attempt);
      const error = thrown(nexus, common, input, attempt);
      if (error !== undefined) throw error;
      return { attempt };
    },
    slow: async (ctx, input) => {
      const attempt = (attempts.get(ctx.requestId) ?? 0) + 1;
      attempts.set(ctx.requestId, attempt);
      noted(`slow begins ${input.name}`);
      if (attempt > 1) return { attempt };
      await new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, input.ms);
        ctx.abortSignal.addEventListener("abort", () => {
          noted(
            `slow is canceled: ${ctx.abortSignal.reason?.message} ${
              ctx.abortSignal.reason instanceof common.CancelledFailure
            }`,
          );
          clearTimeout(timer);
          if (input.gives) resolve();
          else reject(ctx.abortSignal.reason);
        });
      });
      return { attempt };
    },
    run: new temporal.WorkflowRunOperationHandler(start),
    temporal: new temporal.TemporalOperationHandler({
      start: async (_ctx, client, input) => {
        if (input.what === "run") {
          return await client.startWorkflow("backing", {
            workflowId: input.workflowId,
            taskQueue: input.taskQueue,
            args: [input],
          });
        }
        if (input.what === "signal") {
          await client.getWorkflowHandle(input.workflowId).signal("finish", input.with);
          return temporal.TemporalOperationResult.sync("signalled");
        }
        if (input.what === "signalWithStart") {
          await client.signalWithStartWorkflow("backing", {
            ...{
              workflowId: input.workflowId,
              taskQueue: input.taskQueue,
              args: [input],
              signal: "finish",
              signalArgs: ["at once"],
            },
          });
          return temporal.TemporalOperationResult.sync("signalled");
        }
        if (input.what === "query") {
          return temporal.TemporalOperationResult.sync(
            await client.getWorkflowHandle(input.workflowId).query("state"),
          );
        }
        if (input.what === "twice") {
          const options = { taskQueue: input.taskQueue, args: [{}] };
          await client.startWorkflow("backing", {
            ...options,
            workflowId: `${input.workflowId}-1`,
          });
          return await client.startWorkflow("backing", {
            ...options,
            workflowId: `${input.workflowId}-2`,
          });
        }
        return temporal.TemporalOperationResult.sync("nothing");
      },
    }),
    odd: {
      start: async () => nexus.HandlerStartOperationResult.async("no token of Temporal's"),
      cancel: async (_ctx, token) => noted(`odd is cancelled: ${token}`),
    },
  };
  return [nexus.serviceHandler(contract(nexus), handlers)];
}
