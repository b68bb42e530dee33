// `ScheduleClient` of `@temporalio/client`, over the native one.
import { ScheduleClient as NativeClient } from "../../client/schedules/schedule_client.ts";
import type { ScheduleUpdateOptions as NativeUpdate } from "../../client/mod.ts";
import type { Workflow } from "../common/definitions.ts";
import { composeInterceptors, type Headers } from "../common/interceptors.ts";
import { BaseClient, type BaseClientOptions, type LoadedWithDefaults } from "./base_client.ts";
import type { ScheduleOverlapPolicy } from "./enums.ts";
import { checkScheduleInterceptors, type ScheduleClientInterceptor } from "./interceptors.ts";
import type { WorkflowService } from "./plain_service.ts";
import { refusing } from "./refusals.ts";
import {
  compiledSchedule,
  compiledUpdate,
  nativeBackfill,
  nativeOverlap,
  nativeSchedule,
  nativeUpdate,
  officialDescription,
  officialSummary,
} from "./schedule_conversions.ts";
import type {
  Backfill,
  ScheduleDescription,
  ScheduleOptions,
  ScheduleOptionsStartWorkflowAction,
  ScheduleSummary,
  ScheduleUpdateOptions,
} from "./schedule_types.ts";

/** Handle of a schedule. */
export interface ScheduleHandle {
  readonly scheduleId: string;
  /** Returns times, action and past actions. */
  describe(): Promise<ScheduleDescription>;
  /** Updates the schedule. */
  update<W extends Workflow = Workflow>(
    updateFn: (
      previous: ScheduleDescription,
    ) => ScheduleUpdateOptions<ScheduleOptionsStartWorkflowAction<W>>,
  ): Promise<void>;
  /** Deletes the schedule. */
  delete(): Promise<void>;
  /** Runs the action once, now. */
  trigger(overlap?: ScheduleOverlapPolicy): Promise<void>;
  /** Runs the actions of these times, now. */
  backfill(options: Backfill | Backfill[]): Promise<void>;
  /** Pauses the schedule. */
  pause(note?: string): Promise<void>;
  /** Unpauses the schedule. */
  unpause(note?: string): Promise<void>;
  readonly client: ScheduleClient;
}

/** Options of a {@link ScheduleClient}. */
export interface ScheduleClientOptions extends BaseClientOptions {
  /** Interceptors of its operations. */
  interceptors?: ScheduleClientInterceptor[];
}
/** Options with their defaults. */
export type LoadedScheduleClientOptions = LoadedWithDefaults<ScheduleClientOptions>;
/** Options of `list`. */
export interface ListScheduleOptions {
  /** Schedules per request. */
  pageSize?: number;
  /** A visibility query. Default: all. */
  query?: string;
}

/** Creates and finds schedules. */
export class ScheduleClient extends BaseClient {
  /** Options with defaults. */
  declare readonly options: LoadedScheduleClientOptions;

  /** Throws a TypeError for an interceptor with a misspelled method. */
  constructor(options: ScheduleClientOptions = {}) {
    super(options);
    checkScheduleInterceptors(options.interceptors ?? []);
  }

  /** Temporal's WorkflowService. */
  get workflowService(): WorkflowService {
    return this.connection.workflowService;
  }

  #native(headers: Headers = {}): NativeClient {
    return new NativeClient(this.operationContext(undefined, { headers }));
  }

  /** Creates a schedule. Throws ScheduleAlreadyRunning if the id is in use. */
  async create<W extends Workflow = Workflow>(
    options: ScheduleOptions<ScheduleOptionsStartWorkflowAction<W>>,
  ): Promise<ScheduleHandle> {
    const create = composeInterceptors<ScheduleClientInterceptor, "create">(
      this.options.interceptors ?? [],
      "create",
      async (input) => {
        const { scheduleId } = input.options;
        await refusing(
          this,
          () =>
            this.#native(input.headers).create(nativeSchedule(input.options), this.callSettings()),
          { fallback: "Failed to create schedule", scheduleId },
        );
        return { conflictToken: new Uint8Array(0) };
      },
    );
    const compiled = compiledSchedule(options as unknown as ScheduleOptions);
    await create({ options: compiled, headers: {} });
    return this.getHandle(compiled.scheduleId);
  }

  /** Lists all schedules, or those that a query selects. */
  async *list(
    { query, pageSize }: ListScheduleOptions = {},
  ): AsyncGenerator<ScheduleSummary, void, void> {
    const listed = this.#native().list({
      ...(query !== undefined && { query }),
      ...(pageSize !== undefined && { pageSize }),
      ...this.callSettings(),
    });
    for (;;) {
      const next = await refusing(this, () => listed.next(), {
        fallback: "Failed to list schedules",
      });
      if (next.done) return;
      yield officialSummary(next.value);
    }
  }

  /** Returns a handle for a schedule without a request. */
  getHandle(scheduleId: string): ScheduleHandle {
    const native = () => this.#native().getHandle(scheduleId);
    const asked = <R>(fallback: string, fn: () => Promise<R>) =>
      refusing(this, fn, { fallback, scheduleId });
    return {
      client: this,
      scheduleId,
      describe: () =>
        asked(
          "Failed to describe schedule",
          async () => officialDescription(await native().describe(this.callSettings())),
        ),
      update: (updateFn) =>
        asked("Failed to update schedule", () =>
          native().update((previous) => {
            const wanted = updateFn(
              officialDescription(previous),
            ) as unknown as ScheduleUpdateOptions;
            return nativeUpdate(compiledUpdate(scheduleId, wanted)) as NativeUpdate<string>;
          }, this.callSettings())),
      delete: () => asked("Failed to delete schedule", () => native().delete(this.callSettings())),
      trigger: (overlap) =>
        asked(
          "Failed to patch schedule",
          () => native().trigger(nativeOverlap(overlap), this.callSettings()),
        ),
      backfill: (options) =>
        asked(
          "Failed to patch schedule",
          () =>
            native().backfill(
              (Array.isArray(options) ? options : [options]).map(nativeBackfill),
              this.callSettings(),
            ),
        ),
      pause: (note = 'Paused via TypeScript SDK"') =>
        asked("Failed to patch schedule", () => native().pause(note, this.callSettings())),
      unpause: (note = 'Unpaused via TypeScript SDK"') =>
        asked("Failed to patch schedule", () => native().unpause(note, this.callSettings())),
    };
  }
}
