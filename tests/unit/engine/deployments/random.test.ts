// Random changes of versions, of behaviors and of overrides, with restarts: each task goes to a
// worker that a model of the rules allows, no task is lost, and every run ends.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { SqliteStore } from "../../../../ts/engine/mod.ts";
import { CommandType } from "../../../../ts/messages/generated/temporal/api/enums/v1/command_type_pb.ts";
import { withSeed } from "../../../support/seed.ts";
import { dice } from "../../codec/support/random_messages.ts";
import { inFolder } from "../support/stores.ts";
import {
  activityCommand,
  type Behavior,
  type PolledTask,
  version,
  VersionedEngine,
} from "./support.ts";

const SEEDS = 4;
const SEGMENTS = 4;
const STEPS = 40;
const BUILDS = ["v1", "v2", "v3"] as const;
/** Versioned workers, and one without a version. */
const WORKERS = [...BUILDS, undefined];

type Build = (typeof WORKERS)[number];

const ending = (type: CommandType, name: string) =>
  ({ commandType: type, attributes: { case: name, value: {} } }) as never;
const COMPLETE = ending(
  CommandType.COMPLETE_WORKFLOW_EXECUTION,
  "completeWorkflowExecutionCommandAttributes",
);
const CONTINUE = ending(
  CommandType.CONTINUE_AS_NEW_WORKFLOW_EXECUTION,
  "continueAsNewWorkflowExecutionCommandAttributes",
);

interface Run {
  /** The version of the last completed task, and what it asked for. */
  build: Build;
  behavior: Behavior;
  override: Build | "auto";
  isOpen: boolean;
  /** A workflow task is due. */
  isDue: boolean;
  /** A worker has a workflow task. */
  isHeld: boolean;
  /** The override has changed since then, so the run cannot end with that task. */
  isChanged: boolean;
  /**
   * The run moves to another version, which a poll for an activity may begin while a task is held.
   * Until a task has completed there, it is not pinned, as on servers.
   */
  isMoving: boolean;
  /** Activities that no worker has. */
  readonly waiting: Set<string>;
  /** Whether the id is in the half of the ids that ramp, once it is known. */
  ramps?: boolean;
}

class Model {
  readonly runs = new Map<string, Run>();
  current: Build;
  ramping: Build;
  percentage = 0;

  /** The version to which a run is pinned. */
  pinned({ build, behavior, override, isMoving }: Run): Build {
    if (override === "auto" || isMoving) return undefined;
    return override ?? (behavior === "PINNED" ? build : undefined);
  }

  /** Whether a worker may get a workflow task of the run. */
  allows(run: Run, worker: Build): boolean {
    const pinned = this.pinned(run);
    if (pinned !== undefined) return worker === pinned;
    if (this.percentage === 0 || this.percentage === 100) {
      return worker === (this.percentage === 100 ? this.ramping : this.current);
    }
    if (run.ramps !== undefined) return worker === (run.ramps ? this.ramping : this.current);
    return worker === this.ramping || worker === this.current;
  }

  taken(id: string, worker: Build): void {
    const run = this.runs.get(id)!;
    const where = `${id} at ${worker}: ${JSON.stringify([run, this.current, this.ramping])}`;
    assert.ok(run.isOpen && !run.isHeld, `a task that is not due, ${where}`);
    assert.ok(this.allows(run, worker), `a task for another version, ${where}`);
    const isSplit = this.percentage > 0 && this.percentage < 100;
    if (isSplit && this.pinned(run) === undefined && this.ramping !== this.current) {
      run.ramps = worker === this.ramping;
    }
    Object.assign(run, { isDue: false, isHeld: true, isChanged: false });
  }
}

class Life {
  readonly #below: (n: number) => number;
  readonly #model = new Model();
  readonly #held: { readonly task: PolledTask; readonly worker: Build }[] = [];
  #activities = 0;
  #engine!: VersionedEngine;

  constructor(seed: number) {
    this.#below = dice(seed);
  }

  async live(path: string): Promise<void> {
    for (let segment = 0; segment < SEGMENTS; segment++) {
      const store = SqliteStore.open(path, { synchronous: "NORMAL" });
      await VersionedEngine.during(store, async (engine) => {
        this.#engine = engine;
        if (segment === 0) await this.#register();
        for (let step = 0; step < STEPS; step++) await this.#step();
        await this.#drained();
        if (segment === SEGMENTS - 1) await this.#end();
      });
    }
  }

  /** A version exists, and polls its queues, from the first poll of its workers on. */
  async #register(): Promise<void> {
    for (const build of BUILDS) {
      await this.#pollWorkflow(build);
      await this.#pollActivity(build);
    }
  }

  #of<T>(list: readonly T[]): T {
    return list[this.#below(list.length)]!;
  }

  async #step(): Promise<void> {
    const steps = [
      () => this.#start(),
      () => this.#start(),
      () => this.#signal(),
      () => this.#signal(),
      () => this.#setCurrent(),
      () => this.#setRamping(),
      () => this.#setOverride(),
      () => this.#pollWorkflow(this.#of(WORKERS)),
      () => this.#pollWorkflow(this.#of(WORKERS)),
      () => this.#pollWorkflow(this.#of(WORKERS)),
      () => this.#pollActivity(this.#of(WORKERS)),
      () => this.#pollActivity(this.#of(WORKERS)),
      () => this.#completeHeld(),
      () => this.#completeHeld(),
    ];
    await this.#of<() => Promise<unknown>>(steps)();
  }

  async #start(): Promise<void> {
    const id = `w${this.#model.runs.size}`;
    await this.#engine.start(id);
    this.#model.runs.set(id, {
      build: undefined,
      behavior: "UNSPECIFIED",
      override: undefined,
      isOpen: true,
      isDue: true,
      isHeld: false,
      isChanged: false,
      isMoving: false,
      waiting: new Set(),
    });
  }

  #openRun(): [id: string, run: Run] | undefined {
    const open = [...this.#model.runs].filter(([, { isOpen }]) => isOpen);
    return open.length === 0 ? undefined : this.#of(open);
  }

  async #signal(): Promise<void> {
    const found = this.#openRun();
    if (found === undefined) return;
    await this.#engine.signal(found[0]);
    found[1].isDue = true;
  }

  async #setCurrent(build: Build = this.#of(WORKERS)): Promise<void> {
    const model = this.#model;
    // A version cannot be both, and one that is current already is an error.
    if (build === model.current) return;
    if (build !== undefined && model.percentage > 0 && build === model.ramping) return;
    await this.#engine.setCurrent(build, { ignoreMissingTaskQueues: true });
    model.current = build;
  }

  async #setRamping(): Promise<void> {
    const build = this.#of(BUILDS);
    const percentage = this.#of([0, 50, 100]);
    if (build === this.#model.current) return;
    await this.#engine.setRamping(percentage === 0 ? undefined : build, percentage, {
      ignoreMissingTaskQueues: true,
    });
    Object.assign(this.#model, { ramping: build, percentage });
  }

  async #setOverride(): Promise<void> {
    const found = this.#openRun();
    if (found === undefined) return;
    const [workflowId, run] = found;
    run.isChanged = true;
    run.override = this.#of([...WORKERS, "auto" as const]);
    const versioningOverride = run.override === undefined
      ? undefined
      : run.override === "auto"
      ? { autoUpgrade: true }
      : { pinned: { behavior: "PINNED_OVERRIDE_BEHAVIOR_PINNED", version: version(run.override) } };
    await this.#engine.call("UpdateWorkflowExecutionOptions", {
      workflowExecution: { workflowId },
      workflowExecutionOptions: { ...(versioningOverride && { versioningOverride }) },
      updateMask: "versioningOverride",
    });
    await this.#readMoves(workflowId, run);
  }

  async #pollWorkflow(worker: Build): Promise<boolean> {
    const task = await this.#engine.poll(worker);
    if (task === undefined) return false;
    this.#model.taken(task.workflowId, worker);
    this.#held.push({ task, worker });
    return true;
  }

  async #completeHeld(ends = false): Promise<void> {
    const [held] = this.#held.splice(this.#below(Math.max(1, this.#held.length)), 1);
    if (held === undefined) return;
    const { task, worker } = held;
    const run = this.#model.runs.get(task.workflowId)!;
    const behavior = worker === undefined
      ? "UNSPECIFIED"
      : this.#of<Behavior>(["PINNED", "AUTO_UPGRADE"]);
    // The completion of a run with unseen signals is rejected, and the task starts again.
    const mayEnd = !run.isDue && !run.isChanged && run.waiting.size === 0;
    const way = ends ? 0 : this.#below(10);
    const commands = [];
    if (mayEnd && way === 0) commands.push(COMPLETE);
    else if (mayEnd && way === 1) commands.push(CONTINUE);
    else if (!ends && way < 5) {
      const id = `a${this.#activities++}`;
      commands.push(activityCommand(id));
      run.waiting.add(id);
    }
    await this.#engine.completeTask(task, worker, behavior, commands);
    run.isHeld = false;
    run.build = behavior === "UNSPECIFIED" ? undefined : worker;
    run.behavior = behavior;
    await this.#readMoves(task.workflowId, run);
    if (commands[0] === COMPLETE) run.isOpen = false;
    if (commands[0] === CONTINUE) this.#continued(run);
  }

  async #readMoves(workflowId: string, run: Run): Promise<void> {
    const { versioningInfo } = (await this.#engine.describe(workflowId)).workflowExecutionInfo;
    run.isMoving = versioningInfo?.versionTransition !== undefined;
  }

  /** The next run of a chain is pinned where the last one was, and goes elsewhere otherwise. */
  #continued(run: Run): void {
    const pinned = this.#model.pinned(run);
    if (run.override === "auto") run.override = undefined;
    run.behavior = pinned === undefined ? "AUTO_UPGRADE" : "PINNED";
    run.build = pinned ?? run.build;
    run.isDue = true;
  }

  async #pollActivity(worker: Build): Promise<boolean> {
    const task = await this.#engine.poll(worker, { activity: true });
    for (const [id, run] of this.#model.runs) {
      if (run.isOpen && run.waiting.size > 0) await this.#readMoves(id, run);
    }
    if (task === undefined) return false;
    const run = this.#model.runs.get(task.workflowId)!;
    assert.ok(run.isOpen && run.waiting.size > 0, `an activity of ${task.workflowId}`);
    assert.ok(this.#model.allows(run, worker), `an activity for another version, ${worker}`);
    run.waiting.delete([...run.waiting][0]!);
    await this.#engine.call("RespondActivityTaskCompleted", {
      taskToken: btoa(String.fromCharCode(...task.token)),
      identity: worker ?? "unversioned",
    });
    run.isDue = true;
    return true;
  }

  /** Every task that is due is there for the worker that may get it. */
  async #drained(): Promise<void> {
    for (const worker of WORKERS) {
      while (await this.#pollWorkflow(worker));
    }
    const left = [...this.#model.runs].filter(([, run]) => run.isOpen && run.isDue && !run.isHeld);
    assert.deepEqual(left, [], "each due task was received");
  }

  async #end(): Promise<void> {
    await this.#setRampingOff();
    await this.#setCurrent("v1");
    for (let round = 0; round < 50; round++) {
      for (const worker of WORKERS) {
        while (await this.#pollActivity(worker));
        while (await this.#pollWorkflow(worker));
      }
      while (this.#held.length > 0) await this.#completeHeld(true);
      for (const [id, run] of this.#model.runs) {
        if (run.isOpen && !run.isDue && run.waiting.size === 0) {
          await this.#engine.signal(id);
          run.isDue = true;
        }
      }
    }
    const open = [...this.#model.runs].filter(([, { isOpen }]) => isOpen);
    assert.deepEqual(open, [], "every run has ended");
  }

  async #setRampingOff(): Promise<void> {
    await this.#engine.setRamping(undefined, 0);
    this.#model.percentage = 0;
  }
}

test("random versions, behaviors, overrides and restarts: each task goes to a worker that may get it", () =>
  withSeed(async (seed) => {
    for (let i = 0; i < SEEDS; i++) {
      await inFolder((folder) => new Life(seed + i).live(join(folder, "store.db")));
    }
  }));
