// Compares the SQL views with the API: random starts, signals, procedure results, cancels and
// terminations on a store in a file, in virtual time that does not move. After every slice of
// operations, when no task is open, each view is compared with descriptions, lists and queries. A
// short run is a test, a long one is tools/soak/sql_views.ts.
import assert from "node:assert/strict";
import { silentLogger } from "../../../../ts/base/logger.ts";
import { Client } from "../../../../ts/client/mod.ts";
import { EmbeddedEngine, VirtualClock } from "../../../../ts/engine/mod.ts";
import { Worker } from "../../../../ts/worker/mod.ts";
import {
  continueAsNew,
  procedure,
  publishState,
  query,
  signal,
  subscribe,
  timer,
  unsubscribe,
  waitForSignal,
  workflow,
} from "../../../../ts/workflow/mod.ts";

interface Shown {
  /** Awaits that were passed. */
  readonly passed: number;
  readonly orders: readonly string[];
}

const go = signal<[order: string]>("go");
const shown = query<Shown>("shown");
const lives = workflow("lives", {
  messages: { shown },
  queries: { shown: (published: Shown) => published },
  async run(generation: number): Promise<unknown> {
    const orders: string[] = [];
    let passed = 0;
    const show = () => publishState({ passed, orders: orders.slice(-3) } satisfies Shown);
    for (;;) {
      show();
      const [order] = [await waitForSignal(go)].flat();
      passed++;
      orders.push(order!);
      if (order === "timer") void timer(`timer ${generation}`, "1 day");
      else if (order === "procedure") {
        show();
        await procedure("compute", [generation, { order }]);
        passed++;
      } else if (order === "subscribe") subscribe(go, generation);
      else if (order === "unsubscribe") unsubscribe(go);
      else if (order === "again") return continueAsNew(generation + 1);
      else return order;
    }
  },
});
const ORDERS = ["timer", "timer", "procedure", "subscribe", "unsubscribe", "again", "end"];

const STATUSES: { readonly [status: string]: string } = {
  RUNNING: "Suspended",
  COMPLETED: "Completed",
  CONTINUED_AS_NEW: "Completed",
  FAILED: "Failed",
  TERMINATED: "Failed",
  TIMED_OUT: "Failed",
  CANCELED: "Cancelled",
};

/** What was done and compared. */
export interface Compared {
  readonly operations: number;
  readonly workflows: number;
  readonly comparisons: number;
  /** Of the views, over all comparisons. */
  readonly rows: number;
}

export interface RandomViewsOptions {
  /** Of the store's file, which is made. */
  readonly path: string;
  readonly operations: number;
  /** Operations between two comparisons. */
  readonly slice: number;
  readonly seed: number;
}

/** Throws at the first difference. */
export async function randomViews(options: RandomViewsOptions): Promise<Compared> {
  const clock = new VirtualClock(Date.UTC(2030, 0, 1));
  const engine = await EmbeddedEngine.open({ path: options.path, clock, synchronous: "NORMAL" });
  try {
    const common = { service: engine, taskQueue: "views", logger: silentLogger };
    // A small cache: runs that are loaded from history publish their state again.
    const worker = await Worker.create({ ...common, workflows: [lives], cachedWorkflows: 20 });
    const views = new RandomViews(engine, new Client(common), options.seed);
    return await worker.runUntil(() => views.run(options.operations, options.slice));
  } finally {
    await engine.close();
  }
}

class RandomViews {
  readonly #engine: EmbeddedEngine;
  readonly #client: Client;
  readonly #open = new Set<string>();
  #state: number;
  #started = 0;
  #rows = 0;

  constructor(engine: EmbeddedEngine, client: Client, seed: number) {
    this.#engine = engine;
    this.#client = client;
    this.#state = seed;
  }

  async run(operations: number, slice: number): Promise<Compared> {
    let comparisons = 0;
    for (let done = 1; done <= operations; done++) {
      await this.#operate();
      if (done % slice !== 0 && done !== operations) continue;
      await this.#quiet();
      await this.#compare();
      comparisons++;
    }
    return { operations, workflows: this.#started, comparisons, rows: this.#rows };
  }

  /** A whole number below `n`. */
  #random(n: number): number {
    this.#state = (Math.imul(this.#state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (this.#state >>> 8) % n;
  }

  async #operate(): Promise<void> {
    const ids = [...this.#open];
    const id = ids[this.#random(Math.max(1, ids.length))];
    const what = this.#random(10);
    if (id === undefined || (what < 2 && ids.length < 100)) {
      const made = `w${this.#started++}`;
      const belonging = this.#random(2) === 0
        ? {}
        : { entityId: String(this.#random(5)), correlationId: `c${this.#random(3)}` };
      await this.#client.start(lives, { id: made, args: [0], ...belonging });
      this.#open.add(made);
      return;
    }
    const handle = this.#client.getHandle(lives, id);
    try {
      if (what < 7) await handle.signal(go, ORDERS[this.#random(ORDERS.length)]!);
      else if (what < 9) await this.#client.completeProcedure({ workflow: id, name: "compute" }, 1);
      else if (this.#random(2) === 0) await handle.cancel();
      else await handle.terminate();
    } catch (error) {
      // It has ended, or waits for no procedure.
      if (!/NotFound/.test((error as Error).name)) throw error;
    }
  }

  async #quiet(): Promise<void> {
    for (let still = 0; still < 5;) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      const busy = this.#engine.busy ||
        this.#engine.sql("SELECT 1 FROM workflow WHERE status IN ('created', 'running') LIMIT 1")
            .length > 0;
      still = busy ? 0 : still + 1;
    }
  }

  #of(sql: string): unknown[][] {
    return this.#engine.sql(sql).map((row) => Object.values(row));
  }

  async #compare(): Promise<void> {
    const listed: unknown[] = [];
    const procedures: unknown[] = [];
    const states: unknown[] = [];
    this.#open.clear();
    for await (const run of this.#client.list()) {
      const { searchAttributes: found } = run;
      const [entity, correlation] = [
        found["WorkflowEntityId"] ?? null,
        found["WorkflowCorrelationId"] ?? null,
      ];
      listed.push([
        run.workflowId,
        run.runId,
        run.type,
        STATUSES[run.status] ?? run.status,
        entity,
        correlation,
      ]);
      if (run.status !== "RUNNING") continue;
      this.#open.add(run.workflowId);
      const handle = this.#client.getHandle(lives, run.workflowId, run.runId);
      for (const { name } of (await handle.describe()).pendingProcedures) {
        procedures.push([run.workflowId, name]);
      }
      const state = await handle.query(shown);
      states.push([run.runId, state.passed, JSON.stringify(state)]);
    }
    const workflows = this.#of(
      "SELECT id, run_id, workflow_type, status, entity_id, correlation_id FROM workflow",
    );
    assert.deepEqual(sorted(workflows), sorted(listed));
    const told = this.#of("SELECT run_id, phase, state FROM workflow WHERE status = 'suspended'");
    assert.deepEqual(sorted(told), sorted(states));
    assert.deepEqual(
      sorted(this.#of("SELECT workflow_id, name FROM pending_procedure")),
      sorted(procedures),
    );
    const timers = await this.#waiting();
    assert.deepEqual(
      sorted(this.#of("SELECT workflow_id, name FROM workflow_timer")),
      sorted(timers),
    );
    const subscribed = await this.#client.count(
      `WorkflowSubscription = 'go:' AND ExecutionStatus = 'Running'`,
    );
    assert.equal(this.#of("SELECT DISTINCT run_id FROM workflow_subscription").length, subscribed);
    this.#rows += workflows.length + timers.length + procedures.length;
  }

  /** Timers that are pending by open runs' histories, by the names in the events' summaries. */
  async #waiting(): Promise<unknown[]> {
    const found: unknown[] = [];
    for (const id of this.#open) {
      const { events } = await this.#client.getHandle(undefined, id).fetchHistory();
      const ended = new Set(
        events.filter(({ eventType }) => eventType === TIMER.fired || eventType === TIMER.canceled)
          .map((event) =>
            (event.attributes.value as { startedEventId?: bigint } | undefined)?.startedEventId
          ),
      );
      for (const event of events) {
        if (event.eventType !== TIMER.started || ended.has(event.eventId)) continue;
        found.push([id, JSON.parse(new TextDecoder().decode(event.userMetadata?.summary?.data))]);
      }
    }
    return found;
  }
}

/** Numbers of event types in Temporal's API. */
const TIMER: { readonly started: number; readonly fired: number; readonly canceled: number } = {
  started: 17,
  fired: 18,
  canceled: 19,
};

const sorted = (list: readonly unknown[]) => list.map((each) => JSON.stringify(each)).sort();
