// A schedule by its id, with all requests to it. A handle has only the id; creating one sends no
// request.
import { rejectUnknownOptions } from "../../base/option_names.ts";
import { toSearchAttributePayloads } from "../../converter/search_attributes.ts";
import { randomId } from "../../platform/host.ts";
import { Code, type MethodName, ServiceError } from "../../service/raw.ts";
import type { TypedService } from "../../service/typed.ts";
import { ScheduleOverlapPolicy as WireOverlap } from "../../messages/generated/temporal/api/enums/v1/schedule_pb.ts";
import { timestampDate, timestampFromDate } from "../../messages/well_known.ts";
import { CALL_TIMEOUT_MS, type CallSettings, checkSettings } from "../calls.ts";
import { deadlineOf, nameError } from "../context.ts";
import type { AnyWorkflow } from "../definitions.ts";
import { ScheduleAlreadyRunningError, ScheduleNotFoundError } from "../errors.ts";
import { intercept, type OperationContext } from "../interceptors.ts";
import type { UpdateScheduleInput } from "../operation_inputs.ts";
import { type ScheduleDescription, toScheduleDescription } from "./descriptions.ts";
import {
  type Backfill,
  encodeBackfill,
  encodeOverlap,
  encodeSchedule,
  type ScheduleOverlapPolicy,
  type SchedulePatch,
  type ScheduleUpdateOptions,
  UPDATE_SCHEDULE,
} from "./options.ts";

/** Calls the service for a schedule; converts errors to named ones. */
export async function callSchedule<M extends MethodName>(
  context: OperationContext,
  method: M,
  scheduleId: string,
  request: Parameters<TypedService[M]>[0],
  settings: CallSettings = {},
): Promise<Awaited<ReturnType<TypedService[M]>>> {
  checkSettings(`a call about schedule ${scheduleId}`, settings);
  try {
    return await context.calls.call(
      method,
      request,
      deadlineOf(context, settings, CALL_TIMEOUT_MS),
    );
  } catch (error) {
    if (
      error instanceof ServiceError && error.code === Code.NOT_FOUND &&
      !error.reason.startsWith("NamespaceNotFound")
    ) {
      throw new ScheduleNotFoundError(scheduleId, { cause: error });
    }
    if (error instanceof ServiceError && error.code === Code.ALREADY_EXISTS) {
      throw new ScheduleAlreadyRunningError(scheduleId, { cause: error });
    }
    throw nameError(context, error, { what: `schedule ${scheduleId}` });
  }
}

/** A schedule by its id. Creating a handle sends no request; each call does. */
export class ScheduleHandle {
  readonly scheduleId: string;
  readonly #context: OperationContext;

  /** Created by `client.schedule.create` and `client.schedule.getHandle`. */
  constructor(context: OperationContext, scheduleId: string) {
    this.#context = context;
    this.scheduleId = scheduleId;
  }

  /** Returns times, action and past actions. Throws ScheduleNotFoundError. */
  describe(settings: CallSettings = {}): Promise<ScheduleDescription> {
    const { scheduleId } = this;
    return intercept(
      this.#context,
      "describeSchedule",
      { scheduleId },
      (input) => this.#describe(input.scheduleId, settings),
    );
  }

  async #describe(scheduleId: string, settings: CallSettings): Promise<ScheduleDescription> {
    const { namespace, converter } = this.#context;
    const response = await callSchedule(this.#context, "describeSchedule", scheduleId, {
      namespace,
      scheduleId,
    }, settings);
    const action = response.schedule?.action?.action;
    if (action?.case !== "startWorkflow") {
      throw new ServiceError(
        Code.INTERNAL,
        `schedule ${scheduleId} has an action that this client does not know`,
      );
    }
    return toScheduleDescription(scheduleId, response, action.value, converter);
  }

  /**
   * Updates the schedule: `change` receives its description and returns the complete new schedule,
   * which may reuse parts; omitted parts have their defaults. Takes effect after a moment. Of two
   * concurrent updates the last one wins.
   *
   * @example
   * await handle.update((now) => ({ ...now, spec: { ...now.spec, timezone: "Europe/Berlin" } }));
   * await handle.update<typeof report>((now) => ({ ...now, action: { ...now.action, workflowType: report, args: ["costs"] } }));
   */
  async update<W extends AnyWorkflow = string>(
    change: (
      previous: ScheduleDescription,
    ) => ScheduleUpdateOptions<W> | Promise<ScheduleUpdateOptions<W>>,
    settings: CallSettings = {},
  ): Promise<void> {
    const context = this.#context;
    const wanted = { scheduleId: this.scheduleId, change, requestId: randomId(), headers: {} };
    await intercept(context, "updateSchedule", wanted as UpdateScheduleInput, async (input) => {
      const { scheduleId } = input;
      const previous = await this.#describe(scheduleId, settings);
      const options = await input.change(previous);
      // A changed description is valid as well; its other properties are ignored.
      rejectUnknownOptions(`the update of schedule ${scheduleId}`, options, {
        ...UPDATE_SCHEDULE,
        ...previous,
      });
      const { action, policies } = previous.raw.schedule!;
      const kept = {
        action: previous.action,
        raw: action!.action.value!,
        keepOriginalWorkflowId: policies?.keepOriginalWorkflowId ?? false,
      };
      const schedule = encodeSchedule(context, scheduleId, options, input.headers, kept);
      const { searchAttributes } = options;
      await callSchedule(context, "updateSchedule", scheduleId, {
        namespace: context.namespace,
        identity: context.identity,
        scheduleId,
        schedule,
        requestId: input.requestId,
        // If omitted, the service keeps the current ones.
        ...(searchAttributes !== undefined && searchAttributes !== previous.searchAttributes && {
          searchAttributes: { indexedFields: toSearchAttributePayloads(searchAttributes) },
        }),
      }, settings);
    });
  }

  /** Pauses the schedule: it starts no workflows by itself until `unpause`. */
  async pause(note = "paused by a client", settings: CallSettings = {}): Promise<void> {
    await this.#patch({ pause: checkNote(note) }, settings);
  }

  /** Unpauses the schedule. Actions due during the pause are not made up for; see `backfill`. */
  async unpause(note = "unpaused by a client", settings: CallSettings = {}): Promise<void> {
    await this.#patch({ unpause: checkNote(note) }, settings);
  }

  /**
   * Runs the action once, now, also during a pause. `overlap` is the policy of this action.
   * Default: ALLOW_ALL, so it always runs.
   */
  trigger(overlap?: ScheduleOverlapPolicy, settings: CallSettings = {}): Promise<void> {
    return this.#patch({ trigger: { overlap } }, settings);
  }

  /** Runs the actions of these times, all at once. */
  backfill(times: Backfill | readonly Backfill[], settings: CallSettings = {}): Promise<void> {
    const backfill: readonly Backfill[] = Array.isArray(times) ? times : [times as Backfill];
    return this.#patch({ backfill }, settings);
  }

  async #patch(patch: SchedulePatch, settings: CallSettings): Promise<void> {
    const context = this.#context;
    const wanted = { scheduleId: this.scheduleId, patch, requestId: randomId() };
    await intercept(context, "patchSchedule", wanted, async ({ scheduleId, patch, requestId }) => {
      const { pause = "", unpause = "", trigger, backfill = [] } = patch;
      await callSchedule(context, "patchSchedule", scheduleId, {
        namespace: context.namespace,
        identity: context.identity,
        scheduleId,
        requestId,
        patch: {
          pause,
          unpause,
          backfillRequest: backfill.map(encodeBackfill),
          ...(trigger &&
            {
              triggerImmediately: {
                overlapPolicy: encodeOverlap(trigger.overlap, WireOverlap.ALLOW_ALL),
              },
            }),
        },
      }, settings);
    });
  }

  /** Deletes the schedule. Workflows that it has started continue. */
  async delete(settings: CallSettings = {}): Promise<void> {
    const context = this.#context;
    await intercept(
      context,
      "deleteSchedule",
      { scheduleId: this.scheduleId },
      async ({ scheduleId }) => {
        const { namespace, identity } = context;
        await callSchedule(context, "deleteSchedule", scheduleId, {
          namespace,
          identity,
          scheduleId,
        }, settings);
      },
    );
  }

  /**
   * Returns the times of the spec between two dates, with jitter, regardless of pauses and limits.
   */
  async matchingTimes(start: Date, end: Date, settings: CallSettings = {}): Promise<Date[]> {
    const { scheduleId } = this;
    const times = { startTime: timestampFromDate(start), endTime: timestampFromDate(end) };
    const request = { namespace: this.#context.namespace, scheduleId, ...times };
    const response = await callSchedule(
      this.#context,
      "listScheduleMatchingTimes",
      scheduleId,
      request,
      settings,
    );
    return response.startTime.map(timestampDate);
  }
}

/** The service recognizes a pause by its note. */
function checkNote(note: string): string {
  if (typeof note === "string" && note !== "") return note;
  throw new TypeError("the note of a pause or unpause must be a non-empty string");
}
