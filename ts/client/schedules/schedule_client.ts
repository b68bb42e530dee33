// Creates, finds and lists the schedules of a namespace.
import { checkPageSize } from "../../base/number_ranges.ts";
import { type OptionNames, rejectUnknownOptions } from "../../base/option_names.ts";
import { randomId } from "../../platform/host.ts";
import { namingWhat } from "../../converter/lossy_value.ts";
import { toSearchAttributePayloads } from "../../converter/search_attributes.ts";
import { CALL_SETTINGS, CALL_TIMEOUT_MS, type CallSettings, checkSettings } from "../calls.ts";
import { deadlineOf, nameError } from "../context.ts";
import type { AnyWorkflow } from "../definitions.ts";
import { intercept, type OperationContext, type SchedulePage } from "../interceptors.ts";
import type { ListInput } from "../operation_inputs.ts";
import { mapValues } from "../options.ts";
import { type ScheduleSummary, toScheduleSummary } from "./descriptions.ts";
import { callSchedule, ScheduleHandle } from "./handle.ts";
import {
  CREATE_SCHEDULE,
  encodeBackfill,
  encodeSchedule,
  type ScheduleOptions,
} from "./options.ts";

/** Options of `client.schedule.list`. */
export interface ListSchedulesOptions extends CallSettings {
  /**
   * A visibility query over the schedules' search attributes, such as `TemporalSchedulePaused =
   * true`. Default: all.
   */
  query?: string;
  /** Schedules per request. */
  pageSize?: number;
}

const LIST_SCHEDULES: OptionNames<ListSchedulesOptions> = {
  query: 1,
  pageSize: 1,
  ...CALL_SETTINGS,
};

/**
 * Creates and finds schedules: workflows started by the service at the times of a spec. Available
 * as `client.schedule`.
 */
export class ScheduleClient {
  readonly #context: OperationContext;

  /** Created by {@link Client}. */
  constructor(context: OperationContext) {
    this.#context = context;
  }

  /**
   * Creates a schedule. Throws ScheduleAlreadyRunningError if the id is in use, and a TypeError
   * that names an invalid field.
   *
   * @example
   * const handle = await client.schedule.create({
   *   scheduleId: "daily-report",
   *   spec: { calendars: [{ hour: 6, dayOfWeek: { start: "MONDAY", end: "FRIDAY" } }], timezone: "Europe/Berlin" },
   *   action: { type: "startWorkflow", workflowType: report, args: ["sales"], taskQueue: "reports" },
   *   policies: { overlap: "SKIP", pauseOnFailure: true },
   * });
   */
  async create<W extends AnyWorkflow>(
    options: ScheduleOptions<W>,
    settings: CallSettings = {},
  ): Promise<ScheduleHandle> {
    const context = this.#context;
    rejectUnknownOptions("a schedule", options, CREATE_SCHEDULE);
    checkSettings("the creation of a schedule", settings);
    if (typeof options.scheduleId !== "string" || options.scheduleId === "") {
      throw new TypeError("a schedule needs a scheduleId");
    }
    const wanted = { options, requestId: options.requestId ?? randomId(), headers: {} };
    const { scheduleId } = await intercept(context, "createSchedule", wanted, async (input) => {
      const { scheduleId, state = {}, memo, searchAttributes } = input.options;
      const { triggerImmediately = false, backfill = [] } = state;
      const patched = triggerImmediately || backfill.length > 0;
      await callSchedule(context, "createSchedule", scheduleId, {
        namespace: context.namespace,
        identity: context.identity,
        scheduleId,
        requestId: input.requestId,
        schedule: encodeSchedule(context, scheduleId, input.options, input.headers),
        ...(patched && {
          initialPatch: {
            backfillRequest: backfill.map(encodeBackfill),
            // With the schedule's own policy, so that it counts as running and its failure can
            // pause.
            ...(triggerImmediately && { triggerImmediately: {} }),
          },
        }),
        ...(memo &&
          {
            memo: {
              fields: namingWhat(
                "the memo",
                () => mapValues(memo, (value) => context.converter.toPayload(value)),
              ),
            },
          }),
        ...(searchAttributes &&
          { searchAttributes: { indexedFields: toSearchAttributePayloads(searchAttributes) } }),
      }, settings);
      return { scheduleId };
    });
    return new ScheduleHandle(context, scheduleId);
  }

  /** Returns a handle for a schedule without a request. */
  getHandle(scheduleId: string): ScheduleHandle {
    return new ScheduleHandle(this.#context, scheduleId);
  }

  /** All schedules, or those that a query selects. */
  async *list(options: ListSchedulesOptions = {}): AsyncGenerator<ScheduleSummary, void, void> {
    rejectUnknownOptions("the list of schedules", options, LIST_SCHEDULES);
    const { query = "", pageSize = 0, ...settings } = options;
    checkPageSize(pageSize);
    const { calls, converter, namespace } = this.#context;
    let nextPageToken: Uint8Array = new Uint8Array(0);
    do {
      const input: ListInput = { query, pageSize, nextPageToken };
      const page: SchedulePage = await intercept(
        this.#context,
        "listSchedules",
        input,
        async (asked) => {
          const request = {
            namespace,
            query: asked.query,
            maximumPageSize: asked.pageSize,
            nextPageToken: asked.nextPageToken,
          };
          try {
            const answer = await calls.call(
              "listSchedules",
              request,
              deadlineOf(this.#context, settings, CALL_TIMEOUT_MS),
            );
            return {
              schedules: answer.schedules.map((entry) => toScheduleSummary(entry, converter)),
              nextPageToken: answer.nextPageToken,
            };
          } catch (error) {
            throw nameError(this.#context, error, { what: "the list of schedules" });
          }
        },
      );
      yield* page.schedules;
      nextPageToken = page.nextPageToken;
    } while (nextPageToken.length > 0);
  }
}
