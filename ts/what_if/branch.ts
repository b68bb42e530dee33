// A branch: the first events of a recorded run with edits. It continues in a separate engine, in
// memory with virtual time, until it ends, waits for something that never comes, or reaches
// something for which the history has no result. It never affects the recorded run.
import { create, fromBinary } from "@bufbuild/protobuf";
import { EventType } from "../messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import {
  type HistoryEvent,
  HistoryEventSchema,
  HistorySchema,
} from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import { PayloadsSchema } from "../messages/generated/temporal/api/common/v1/message_pb.ts";
import { WorkflowExecutionStatus } from "../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { UpdateWorkflowExecutionLifecycleStage } from "../messages/generated/temporal/api/enums/v1/update_pb.ts";
import {
  defaultPayloadConverter,
  type PayloadConverter,
  toPayloads,
} from "../converter/payload.ts";
import { runIdIn } from "../converter/history_run.ts";
import { CLOSING_STATUS } from "../engine/maintenance/findings.ts";
import type { OpenRunToMake } from "../engine/maintenance/open_run.ts";
import { Activities } from "./activities.ts";
import { Agenda } from "./agenda.ts";
import { Answers } from "./answers.ts";
import { Children } from "./children.ts";
import { type Edit, EditError, type End, type Question } from "./edits.ts";
import { cutBefore, prefixOf } from "./prefix.ts";
import { eventMilliseconds, readRecorded, type Recorded } from "./recorded.ts";
import { AnsweredReducers } from "./reducers.ts";
import { type Delivery, firstChange, scriptOf } from "./script.ts";
import { type BranchTables, makeTables, noTables, type OpenStore } from "./tables.ts";
import { type TaskRealm, WorkflowTasks } from "./workflow_tasks.ts";
import { IDENTITY, World } from "./world.ts";

/** Options of {@link runBranch}. */
export interface BranchOptions {
  /** The realm that runs the workflow code. Branches in one realm run one after another. */
  readonly realm: TaskRealm;
  /** The changes of the branch. Empty: the unchanged run, executed again from `from` on. */
  readonly edits: readonly Edit[];
  /** Maximum number of events to keep, even if the edits allow more. */
  readonly from?: number;
  /** For histories that do not contain it. */
  readonly workflowId?: string;
  /**
   * The result of calls for which the history has none. Default: the branch stops with a question.
   */
  readonly unanswered?: End;
  /**
   * Tables, and reducers that change them, in Node and Deno. Default: none; a reducer returns the
   * recorded result for the same arguments, otherwise the branch asks.
   */
  readonly tables?: BranchTables;
  /** Encodes the values of edits. Default: Temporal's default encodings. */
  readonly converter?: PayloadConverter;
  /** Maximum number of workflow tasks. Default: 1000. */
  readonly maxTasks?: number;
  /** Maximum virtual time in milliseconds. Default: ten years. */
  readonly maxTimeMs?: number;
  /** Stops the branch at its current state. */
  readonly signal?: AbortSignal;
}

/** How a branch ended. */
export type BranchOutcome =
  | {
    readonly kind:
      | "completed"
      | "failed"
      | "cancelled"
      | "terminated"
      | "timed out"
      | "continued as new";
  }
  /** The run is open, and nothing that could resume it is scheduled. */
  | { readonly kind: "waits" }
  /** The history has no result for something that the branch began. */
  | { readonly kind: "asks" }
  /** The code failed a workflow task. */
  | { readonly kind: "stuck"; readonly message: string }
  /** A limit was reached, or the caller stopped the branch. */
  | { readonly kind: "stopped"; readonly message: string };

/** The response to an update of a branch. */
export interface UpdateAnswer {
  /** The update that was called, as its handler is named. */
  readonly name: string;
  readonly id: string;
  /** Event of the recorded history; 0 for an update of an edit. */
  readonly recorded: number;
  /** The code accepted it. */
  readonly accepted: boolean;
  /** Why it was rejected. */
  readonly message?: string;
}

/** The result of a branch. */
export interface BranchResult {
  /** The whole history: bytes of temporal.api.history.v1.History. */
  readonly history: Uint8Array;
  /** The decoded history. */
  readonly events: readonly HistoryEvent[];
  /** Number of events from the recorded history, including an edited start. */
  readonly kept: number;
  /** How the branch ended, or what it waits for. */
  readonly outcome: BranchOutcome;
  /** Questions that have no answer. */
  readonly questions: readonly Question[];
  /** Responses to the updates of the branch. */
  readonly updates: readonly UpdateAnswer[];
  /** IDs of recorded messages that arrived after the end of the run. */
  readonly undelivered: readonly number[];
  /**
   * With `tables`: IDs of kept events whose reducer returned another result than recorded. The
   * tables differ from those of the recorded run.
   */
  readonly otherTables: readonly number[];
  /** Virtual time at the end, in milliseconds since the epoch. */
  readonly endMs: number;
}

const TEN_YEARS_MS = 3653 * 86_400_000;
/** Messages of one task that are this close to each other are delivered together. */
const TOGETHER_MS = 20;

const turns = new WeakMap<TaskRealm, Promise<unknown>>();

/**
 * Runs a branch of a recorded run. `history`: bytes of temporal.api.history.v1.History with decoded
 * payloads (see readHistoryFile). Rejects with an EditError for edits that do not match the
 * history.
 */
export async function runBranch(
  history: Uint8Array,
  options: BranchOptions,
  openStore?: OpenStore,
): Promise<BranchResult> {
  const before = turns.get(options.realm);
  const mine = (before ?? Promise.resolve()).then(() => run(history, options, openStore));
  turns.set(options.realm, mine.catch(() => {}));
  return await mine;
}

async function run(
  history: Uint8Array,
  options: BranchOptions,
  openStore: OpenStore = noTables,
): Promise<BranchResult> {
  const { edits, from = Infinity, converter = defaultPayloadConverter } = options;
  const original = fromBinary(HistorySchema, history).events;
  const recorded = readRecorded(original);
  const changes = edits.map((edit) => firstChange(edit, recorded));
  const before = Math.min(from + 1, ...changes, lastBefore(original));
  const cut = cutBefore(original, before);
  const prefix = prefixOf(withInput(original, edits, converter), cut);
  const main = runOf(prefix, options.workflowId, runIdIn(original));
  const answers = new Answers(recorded, edits, options.unanswered, converter);
  const nowMs = prefix.reduce((latest, event) => Math.max(latest, eventMilliseconds(event)), 0);
  const openChildren = answers.openAt("child", cut);
  const timers = movedTimers(recorded, edits, cut);
  const { tables } = options;
  if (tables !== undefined && edits.some(({ kind }) => kind === "transact")) {
    throw new EditError(
      "reducers of a branch with tables run: give other reducers or tables, or leave the tables out",
    );
  }
  const made = tables === undefined
    ? undefined
    : makeTables(await openStore(), tables, prefix, converter);
  const reducers = tables === undefined ? new AnsweredReducers() : undefined;
  const world = await World.open(
    { ...main, timers: new Map(timers.map(({ eventId, atMs }) => [eventId, atMs])) },
    openChildren.flatMap(({ eventId }) => childRun(original, eventId, cut, main)),
    nowMs,
    reducers === undefined ? { reducers: tables!.reducers, converter } : { reducing: reducers },
    made?.store,
  );
  for (const { timerId } of timers) world.noteMoved(timerId);
  try {
    const branch = new Branch(world, recorded, answers, main, options, reducers);
    branch.resume(original, cut, openChildren);
    return {
      ...await branch.run(scriptOf(recorded, edits, cut), cut),
      otherTables: made?.differ ?? [],
    };
  } finally {
    await world.close();
  }
}

/** The edits may change nothing: then the last task is executed again. */
function lastBefore(events: readonly HistoryEvent[]): number {
  const last = events.at(-1);
  return last !== undefined && CLOSING_STATUS[last.eventType] !== undefined
    ? events.length
    : events.length + 1;
}

function withInput(
  events: readonly HistoryEvent[],
  edits: readonly Edit[],
  converter: PayloadConverter,
): readonly HistoryEvent[] {
  const edit = edits.findLast((each) => each.kind === "input");
  const [first, ...rest] = events;
  if (
    edit?.kind !== "input" || first?.attributes.case !== "workflowExecutionStartedEventAttributes"
  ) return events;
  const input = create(PayloadsSchema, { payloads: toPayloads(converter, edit.args) });
  return [{
    ...first,
    attributes: { ...first.attributes, value: { ...first.attributes.value, input } },
  }, ...rest];
}

function runOf(
  events: readonly HistoryEvent[],
  workflowId: string | undefined,
  runId: string | undefined,
): OpenRunToMake {
  const start = events[0]?.attributes;
  if (start?.case !== "workflowExecutionStartedEventAttributes") {
    throw new EditError("the history does not begin with its run's start");
  }
  return {
    workflowId: start.value.workflowId || workflowId || "what-if",
    runId: runId || start.value.originalExecutionRunId || "00000000-0000-4000-8000-000000000000",
    events,
  };
}

/** Returns the timers of the prefix that an edit moves. */
function movedTimers(recorded: Recorded, edits: readonly Edit[], cut: number) {
  return edits.flatMap((edit) => {
    if (edit.kind !== "timer" || edit.eventId > cut) return [];
    const timer = recorded.timers.find(({ eventId }) => eventId === edit.eventId)!;
    return [{ eventId: edit.eventId, timerId: timer.timerId, atMs: timer.startMs + edit.afterMs }];
  });
}

/**
 * Returns a child that the prefix started, as a run without code; undefined if its start is not
 * recorded there.
 */
function childRun(
  events: readonly HistoryEvent[],
  initiatedId: number,
  cut: number,
  parent: OpenRunToMake,
): OpenRunToMake[] {
  const initiated = events[initiatedId - 1]!.attributes;
  const started = events.slice(0, cut).find(({ attributes }) =>
    attributes.case === "childWorkflowExecutionStartedEventAttributes" &&
    Number(attributes.value.initiatedEventId) === initiatedId
  );
  if (
    initiated.case !== "startChildWorkflowExecutionInitiatedEventAttributes" ||
    started?.attributes.case !== "childWorkflowExecutionStartedEventAttributes"
  ) return [];
  const { workflowId, workflowType, taskQueue, input, cronSchedule } = initiated.value;
  const runId = started.attributes.value.workflowExecution?.runId ?? "";
  const value = {
    ...{ workflowId, attempt: 1, originalExecutionRunId: runId, firstExecutionRunId: runId },
    cronSchedule,
    ...(workflowType !== undefined && { workflowType }),
    ...(taskQueue !== undefined && { taskQueue }),
    ...(input !== undefined && { input }),
    parentWorkflowExecution: { workflowId: parent.workflowId, runId: parent.runId },
    parentInitiatedEventId: BigInt(initiatedId),
  };
  const first = create(HistoryEventSchema, {
    ...{ eventId: 1n, eventType: EventType.WORKFLOW_EXECUTION_STARTED },
    ...(started.eventTime !== undefined && { eventTime: started.eventTime }),
    attributes: { case: "workflowExecutionStartedEventAttributes", value },
  });
  return [{ workflowId, runId, events: prefixOf([first], 1) }];
}

class Branch {
  readonly #world: World;
  readonly #recorded: Recorded;
  readonly #answers: Answers;
  readonly #main: OpenRunToMake;
  readonly #options: BranchOptions;
  readonly #agenda = new Agenda();
  readonly #activities: Activities;
  readonly #children: Children;
  readonly #tasks: WorkflowTasks;
  readonly #updates: { answer: UpdateAnswer }[] = [];
  readonly #undelivered: number[] = [];
  /** Messages of this group are held until all have been delivered. */
  #together: number | undefined;

  constructor(
    world: World,
    recorded: Recorded,
    answers: Answers,
    main: OpenRunToMake,
    options: BranchOptions,
    reducers: AnsweredReducers | undefined,
  ) {
    const { realm, converter = defaultPayloadConverter } = options;
    const { workflowId, runId } = main;
    this.#world = world;
    this.#recorded = recorded;
    this.#answers = answers;
    this.#main = main;
    this.#options = options;
    const agenda = this.#agenda;
    this.#activities = new Activities({
      world,
      agenda,
      answers,
      converter,
      execution: { workflowId, runId },
    });
    this.#children = new Children(world, agenda);
    this.#tasks = new WorkflowTasks({
      world,
      realm,
      recorded,
      answers,
      children: this.#children,
      converter,
      runId,
      reducers,
    });
  }

  /** Resumes what the prefix began. */
  resume(
    events: readonly HistoryEvent[],
    cut: number,
    children: ReturnType<Answers["openAt"]>,
  ): void {
    const { workflowQueues, activityQueues } = this.#tasks;
    this.#answers.skipLocal(cut);
    for (const { attributes } of [...events.slice(0, cut), ...this.#main.events]) {
      if (attributes.case === "workflowExecutionStartedEventAttributes") {
        workflowQueues.add(attributes.value.taskQueue?.name ?? "");
      }
      if (attributes.case === "activityTaskScheduledEventAttributes") {
        activityQueues.add(attributes.value.taskQueue?.name ?? "");
      }
      if (attributes.case === "startChildWorkflowExecutionInitiatedEventAttributes") {
        workflowQueues.add(attributes.value.taskQueue?.name || [...workflowQueues][0]!);
      }
    }
    for (const { eventId, answer } of this.#answers.openAt("activity", cut)) {
      const event = events[eventId - 1]!;
      if (event.attributes.case !== "activityTaskScheduledEventAttributes") continue;
      this.#activities.know(event.attributes.value.activityId, answer, eventMilliseconds(event));
    }
    for (const { eventId, answer } of children) {
      const event = events[eventId - 1]!;
      if (event.attributes.case !== "startChildWorkflowExecutionInitiatedEventAttributes") continue;
      this.#children.know(event.attributes.value.workflowId, answer, eventMilliseconds(event));
    }
  }

  async run(script: readonly Delivery[], kept: number): Promise<Omit<BranchResult, "otherTables">> {
    script.forEach((delivery, i) => {
      this.#agenda.at(
        Math.max(this.#world.nowMs, delivery.atMs),
        () => this.#deliver(delivery, script[i + 1]),
      );
    });
    const outcome = await this.#goOn();
    const { bytes, events } = this.#world.history();
    // Results of calls that are in progress.
    await this.#world.quiet();
    return {
      ...{ history: bytes, events, kept, outcome },
      questions: this.#questions(events),
      updates: this.#updates.map(({ answer }) => answer),
      undelivered: this.#undelivered,
      endMs: this.#world.nowMs,
    };
  }

  async #goOn(): Promise<BranchOutcome> {
    const { maxTasks = 1000, maxTimeMs = TEN_YEARS_MS, signal } = this.#options;
    const world = this.#world;
    const until = world.nowMs + maxTimeMs;
    const lastMs = eventMilliseconds(this.#recorded.events.at(-1)!);
    for (;;) {
      await this.#settle();
      if (world.closed) return this.#closed();
      if (this.#answers.questions.length > 0) return { kind: "asks" };
      const { failure } = this.#tasks;
      if (failure !== undefined) return { kind: "stuck", message: failure.message };
      if (signal?.aborted) return { kind: "stopped", message: "it was stopped" };
      if (this.#tasks.completed >= maxTasks) {
        return { kind: "stopped", message: `it has run ${maxTasks} workflow tasks` };
      }
      if (await this.#agenda.doNext(world.nowMs)) continue;
      const next = Math.min(this.#agenda.nextMs, world.nextMs);
      if (next === Infinity) return { kind: "waits" };
      // After the end of an open history only the branch's own actions are known: what it waits for
      // may have happened.
      if (
        next > Math.max(lastMs, world.nowMs) && this.#agenda.nextMs === Infinity &&
        this.#waitsForUnknown()
      ) {
        return { kind: "waits" };
      }
      if (next > until) {
        return {
          kind: "stopped",
          message: `the run continues beyond ${Math.round(maxTimeMs / 86_400_000)} days`,
        };
      }
      world.clock.advanceTo(next);
    }
  }

  /** Returns whether something is open whose result the history does not have. */
  #waitsForUnknown(): boolean {
    const { activities, children } = this.#recorded;
    const edited = (id: number) =>
      this.#options.edits.some((edit) =>
        (edit.kind === "activity" || edit.kind === "child") && edit.eventId === id
      );
    return [...activities, ...children].some(({ eventId, endEventId, startFailed }) =>
      endEventId === 0 && startFailed !== true && this.#answers.given.has(eventId) &&
      !edited(eventId)
    );
  }

  /** Runs everything that can happen at the current time. */
  async #settle(): Promise<void> {
    const world = this.#world;
    for (let moved = true; moved && !world.closed && this.#tasks.failure === undefined;) {
      moved = false;
      await world.quiet();
      if (this.#together === undefined) {
        for (const queue of this.#tasks.workflowQueues) {
          if (world.tasks(queue).workflow === 0) continue;
          await this.#tasks.take(queue);
          moved = true;
        }
      }
      for (const queue of this.#tasks.activityQueues) {
        if (world.tasks(queue).activity === 0) continue;
        await this.#activities.take(queue);
        moved = true;
      }
      if (!moved) moved = await this.#activities.cancelled();
    }
    await this.#moveTimers();
  }

  /** Moves the timers of edits as soon as the branch has started them. */
  async #moveTimers(): Promise<void> {
    for (const edit of this.#options.edits) {
      if (edit.kind !== "timer") continue;
      const { timerId } = this.#recorded.timers.find(({ eventId }) => eventId === edit.eventId)!;
      await this.#world.moveTimer(timerId, edit.afterMs);
    }
  }

  async #deliver(delivery: Delivery, next: Delivery | undefined): Promise<void> {
    const world = this.#world;
    const { workflowId, runId } = this.#main;
    const { together, atMs } = delivery;
    const waits = next !== undefined && together !== 0 && next.together === together &&
      next.atMs - atMs <= TOGETHER_MS;
    this.#together = waits ? together : undefined;
    if (world.closed) {
      if (delivery.eventId > 0) this.#undelivered.push(delivery.eventId);
      return;
    }
    const { service, namespace } = world;
    const workflowExecution = { workflowId, runId };
    const identity = delivery.identity || IDENTITY;
    const input = "values" in delivery.input
      ? create(PayloadsSchema, {
        payloads: toPayloads(
          this.#options.converter ?? defaultPayloadConverter,
          delivery.input.values,
        ),
      })
      : delivery.input.payloads;
    const header = delivery.header === undefined ? {} : { header: delivery.header };
    const carried = { ...(input !== undefined && { input }), ...header };
    const requestId = crypto.randomUUID();
    switch (delivery.kind) {
      case "signal":
        await service.signalWorkflowExecution({
          ...{
            namespace,
            workflowExecution,
            identity,
            requestId,
            signalName: delivery.name,
            ...carried,
          },
        });
        break;
      case "cancel":
        await service.requestCancelWorkflowExecution({
          namespace,
          workflowExecution,
          identity,
          requestId,
          reason: delivery.reason,
        });
        break;
      case "terminate":
        await service.terminateWorkflowExecution({
          namespace,
          workflowExecution,
          identity,
          reason: delivery.reason,
        });
        break;
      case "update": {
        const { name, updateId: id, eventId: recorded } = delivery;
        const entry = { answer: { name, id, recorded, accepted: false } as UpdateAnswer };
        this.#updates.push(entry);
        void service.updateWorkflowExecution({
          ...{ namespace, workflowExecution },
          waitPolicy: { lifecycleStage: UpdateWorkflowExecutionLifecycleStage.ACCEPTED },
          request: {
            meta: { updateId: id, identity },
            input: { name, ...(input !== undefined && { args: input }), ...header },
          },
        }).then(({ outcome, stage }) => {
          // A rejected update has an outcome and is never reported as accepted.
          const failure = outcome?.value.case === "failure" ? outcome.value.value : undefined;
          const accepted = stage === UpdateWorkflowExecutionLifecycleStage.ACCEPTED ||
            failure === undefined ||
            this.#isAccepted(id);
          entry.answer = {
            ...entry.answer,
            accepted,
            ...(!accepted && { message: failure?.message ?? "rejected" }),
          };
        }, (error) => {
          entry.answer = {
            ...entry.answer,
            accepted: this.#isAccepted(id),
            message: (error as Error).message,
          };
        });
        // The call reaches the engine before anything else happens.
        await world.quiet();
      }
    }
  }

  #isAccepted(updateId: string): boolean {
    return this.#world.history().events.some(({ attributes }) =>
      attributes.case === "workflowExecutionUpdateAcceptedEventAttributes" &&
      attributes.value.acceptedRequest?.meta?.updateId === updateId
    );
  }

  #closed(): BranchOutcome {
    const last = this.#world.history().events.at(-1)!;
    const kinds: {
      readonly [status: number]: Exclude<
        BranchOutcome["kind"],
        "waits" | "asks" | "stuck" | "stopped"
      >;
    } = {
      [WorkflowExecutionStatus.COMPLETED]: "completed",
      [WorkflowExecutionStatus.FAILED]: "failed",
      [WorkflowExecutionStatus.CANCELED]: "cancelled",
      [WorkflowExecutionStatus.TERMINATED]: "terminated",
      [WorkflowExecutionStatus.TIMED_OUT]: "timed out",
      [WorkflowExecutionStatus.CONTINUED_AS_NEW]: "continued as new",
    };
    return { kind: kinds[CLOSING_STATUS[last.eventType] ?? 0] ?? "completed" };
  }

  #questions(events: readonly HistoryEvent[]): Question[] {
    return this.#answers.questions.map((question) => {
      const activityId = this.#activities.asked.get(question.key);
      const event = events.findLast(({ attributes }) =>
        attributes.case === "activityTaskScheduledEventAttributes" &&
        attributes.value.activityId === activityId
      );
      return event === undefined ? question : { ...question, eventId: Number(event.eventId) };
    });
  }
}
