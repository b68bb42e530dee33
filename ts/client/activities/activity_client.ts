// Starts, finds, lists and counts activities without a workflow.
import { checkPageSize } from "../../base/number_ranges.ts";
import { type OptionNames, rejectUnknownOptions } from "../../base/option_names.ts";
import { randomId } from "../../platform/host.ts";
import { Code, ServiceError } from "../../service/raw.ts";
import { CALL_SETTINGS, CALL_TIMEOUT_MS, type CallSettings, checkSettings } from "../calls.ts";
import { deadlineOf, encodeArgs, headerField, nameError } from "../context.ts";
import { toCount, type WorkflowCount } from "../counts.ts";
import type { ArgsOption } from "../definitions.ts";
import { ActivityAlreadyStartedError } from "../errors.ts";
import { type ActivityPage, intercept, type OperationContext } from "../interceptors.ts";
import type { ListInput } from "../operation_inputs.ts";
import { type ActivitySummary, toActivitySummary } from "./descriptions.ts";
import { ActivityHandle } from "./handle.ts";
import { activityStartFields, type ActivityStartOptions, checkActivityStart } from "./options.ts";

// deno-lint-ignore no-explicit-any
type AnyFunction = (...args: any[]) => unknown;

/** Options of `client.activity.start` and `execute` for an activity of type `F`. */
export type StartActivityOptions<F extends AnyFunction = AnyFunction> =
  & ActivityStartOptions
  & CallSettings
  & ArgsOption<Parameters<F>>;

/** Options of `client.activity.list`. */
export interface ListActivitiesOptions extends CallSettings {
  /** Activities per request. */
  pageSize?: number;
}

const LIST_ACTIVITIES: OptionNames<ListActivitiesOptions> = { pageSize: 1, ...CALL_SETTINGS };

/**
 * Runs activities without a workflow: one step that is retried until it succeeds, with a result
 * that can be asked for. The embedded engine has them, and clusters that enable them. Available as
 * `client.activity`.
 */
export class ActivityClient {
  readonly #context: OperationContext;

  /** Created by {@link Client}. */
  constructor(context: OperationContext) {
    this.#context = context;
  }

  /**
   * Starts an activity by the name under which a worker has registered it. Returns when the service
   * has recorded the start. Throws ActivityAlreadyStartedError if the id is in use.
   *
   * @example
   * const handle = await client.activity.start<typeof charge>("charge", { id: "charge-17", args: ["ada", 1200] });
   * const receipt = await handle.result();
   */
  async start<F extends AnyFunction = AnyFunction>(
    activityType: string,
    options: StartActivityOptions<F>,
  ): Promise<ActivityHandle<Awaited<ReturnType<F>>>> {
    const context = this.#context;
    if (typeof activityType !== "string" || activityType === "") {
      throw new TypeError("a start of an activity needs the name of its type");
    }
    // Without any options, the missing task queue is named.
    const { args = [], timeout, signal, ...given } = (options ?? {}) as StartActivityOptions<
      () => void
    >;
    checkActivityStart(options ?? {});
    const taskQueue = given.taskQueue ?? context.defaultTaskQueue;
    if (taskQueue === undefined) {
      throw new TypeError(
        "a start of an activity needs a taskQueue, in its options or in those of the client",
      );
    }
    const input = {
      activityType,
      args,
      options: {
        ...given,
        id: given.id ?? randomId(),
        taskQueue,
        requestId: given.requestId ?? randomId(),
      },
      headers: {},
    };
    const { id, runId } = await intercept(context, "startActivity", input, async (asked) => {
      const request = {
        namespace: context.namespace,
        identity: context.identity,
        activityType: { name: asked.activityType },
        input: encodeArgs(context, "the arguments of the activity", asked.args),
        ...headerField(asked.headers),
        ...activityStartFields(asked.options, context.converter),
      };
      const deadline = deadlineOf(context, { timeout, signal }, CALL_TIMEOUT_MS);
      try {
        const { runId, started } = await context.calls.call(
          "startActivityExecution",
          request,
          deadline,
        );
        return { id: asked.options.id, runId, started };
      } catch (error) {
        if (error instanceof ServiceError && error.code === Code.ALREADY_EXISTS) {
          const open = error.metadata["run_id"] || undefined;
          throw new ActivityAlreadyStartedError(asked.options.id, open, { cause: error });
        }
        throw nameError(context, error, { what: `the start of activity ${asked.options.id}` });
      }
    });
    return new ActivityHandle(context, id, runId);
  }

  /**
   * Starts an activity and waits for its result. Throws like `start` and `handle.result`; `timeout`
   * limits only the start.
   */
  async execute<F extends AnyFunction = AnyFunction>(
    activityType: string,
    options: StartActivityOptions<F>,
  ): Promise<Awaited<ReturnType<F>>> {
    const handle = await this.start<F>(activityType, options);
    return await handle.result({ signal: options.signal });
  }

  /** Returns a handle without a request; without a run id, of the latest activity with this id. */
  getHandle<F extends AnyFunction = AnyFunction>(
    id: string,
    runId?: string,
  ): ActivityHandle<Awaited<ReturnType<F>>> {
    return new ActivityHandle(this.#context, id, runId);
  }

  /** Lists the activities of a visibility query, such as `ActivityType = "charge"`; "" has all. */
  async *list(
    query = "",
    options: ListActivitiesOptions = {},
  ): AsyncGenerator<ActivitySummary, void, void> {
    rejectUnknownOptions("the list of activities", options, LIST_ACTIVITIES);
    const context = this.#context;
    const { pageSize = 0, ...settings } = options;
    checkPageSize(pageSize);
    let nextPageToken: Uint8Array = new Uint8Array(0);
    do {
      const input: ListInput = { query, pageSize, nextPageToken };
      const page: ActivityPage = await intercept(
        context,
        "listActivities",
        input,
        async (asked) => {
          const { namespace, calls } = context;
          const deadline = deadlineOf(context, settings, CALL_TIMEOUT_MS);
          try {
            const response = await calls.call(
              "listActivityExecutions",
              { namespace, ...asked },
              deadline,
            );
            const activities = response.executions.map((info) => toActivitySummary(context, info));
            return { activities, nextPageToken: response.nextPageToken };
          } catch (error) {
            throw nameError(context, error, { what: "the list of activities" });
          }
        },
      );
      yield* page.activities;
      nextPageToken = page.nextPageToken;
    } while (nextPageToken.length > 0);
  }

  /** Counts the activities of a visibility query; `groups` are those of `GROUP BY`. */
  async count(query = "", settings: CallSettings = {}): Promise<WorkflowCount> {
    checkSettings("the count of activities", settings);
    const context = this.#context;
    return await intercept(context, "countActivities", { query }, async (asked) => {
      const request = { namespace: context.namespace, query: asked.query };
      const deadline = deadlineOf(context, settings, CALL_TIMEOUT_MS);
      try {
        const response = await context.calls.call("countActivityExecutions", request, deadline);
        return toCount(response, context.converter);
      } catch (error) {
        throw nameError(context, error, { what: "the count of activities" });
      }
    });
  }
}
