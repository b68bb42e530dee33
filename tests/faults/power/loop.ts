// The power-loss loop: random commits on one store, and again and again the power fails (or the
// process dies) at a random write or sync. After each, the store must open, be sound, and hold
// exactly what some number of the commits made: with FULL no fewer than were acknowledged, with
// NORMAL no fewer than were acknowledged when only the process died.
import type { Synchronous } from "../../../ts/engine/sqlite/open.ts";
import type { RunRow, RunWrite, Store } from "../../../ts/engine/store.ts";
import { batch, eventIds, row, write } from "../../unit/engine/support/records.ts";
import { FATES, PowerDisk } from "./disk.ts";
import type { PowerSqlite } from "./sqlite.ts";

export interface PowerLossOptions {
  readonly crashes: number;
  /** What is promised. */
  readonly synchronous: Synchronous;
  /** What the store is opened with, if not that: to see that the loop would notice. */
  readonly opensWith?: Synchronous;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  readonly onCrash?: (figures: PowerLossFigures) => void;
}

export interface PowerLossFigures {
  crashes: number;
  /** How many of them left the system alive. */
  processDeaths: number;
  /** How many hit an opening of the store, its creation included. */
  atOpening: number;
  acknowledged: number;
  /** Acknowledged commits that were gone after a power loss. */
  lost: number;
  /** Crashes that lost some. */
  losing: number;
  /** Commits that were not acknowledged and are there. */
  unacknowledgedKept: number;
  syncs: number;
  /** One sentence for each broken promise. */
  problems: string[];
}

/** So that the store stays small, and its pages are used again. */
const MOST_OPEN = 12;

/** What a run looks like after some commit; undefined: it was purged. */
type Look = string | undefined;

/** What the store must hold, after each commit so far. */
class Model {
  readonly #looks = new Map<string, { readonly commit: number; readonly look: Look }[]>();
  readonly #rows: {
    readonly commit: number;
    readonly row: RunRow;
    readonly items: ReadonlyMap<string, Uint8Array>;
  }[] = [];
  /** How many commits there were. */
  commits = 0;

  /** The runs as they are now. */
  current(): Map<string, { row: RunRow; items: ReadonlyMap<string, Uint8Array> }> {
    const runs = new Map<string, { row: RunRow; items: ReadonlyMap<string, Uint8Array> }>();
    for (const { row, items } of this.#rows) runs.set(row.runId, { row, items });
    for (const [runId, looks] of this.#looks) {
      if (looks.at(-1)!.look === undefined) runs.delete(runId);
    }
    return runs;
  }

  put(row: RunRow, items: ReadonlyMap<string, Uint8Array>): void {
    this.#rows.push({ commit: this.commits, row, items });
    this.#see(row.runId, describe(row, items, row.historyLength));
  }

  purge(runId: string): void {
    this.#see(runId, undefined);
  }

  #see(runId: string, look: Look): void {
    const looks = this.#looks.get(runId) ?? [];
    looks.push({ commit: this.commits, look });
    this.#looks.set(runId, looks);
  }

  /** What is there after so many commits. */
  at(commits: number): Map<string, string> {
    const found = new Map<string, string>();
    for (const [runId, looks] of this.#looks) {
      const look = looks.findLast(({ commit }) => commit <= commits)?.look;
      if (look !== undefined) found.set(runId, look);
    }
    return found;
  }

  /** Forgets what was lost. */
  backTo(commits: number): void {
    this.commits = commits;
    while ((this.#rows.at(-1)?.commit ?? 0) > commits) this.#rows.pop();
    for (const [runId, looks] of this.#looks) {
      while ((looks.at(-1)?.commit ?? 0) > commits) looks.pop();
      if (looks.length === 0) this.#looks.delete(runId);
    }
  }
}

function sum(bytes: Uint8Array): number {
  const words = new Uint32Array(bytes.slice(0, bytes.length & ~3).buffer);
  let sum = bytes.length;
  for (let i = 0; i < words.length; i++) sum = (Math.imul(sum, 31) + words[i]!) | 0;
  return sum;
}

function describe(row: RunRow, items: ReadonlyMap<string, Uint8Array>, events: number): string {
  const parts = [...items].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, value]) =>
    `${id}=${sum(value)}`
  );
  return [
    row.workflowId,
    row.status,
    row.closeTimeMs,
    row.historyLength,
    row.ready,
    sum(row.memo),
    events,
    ...parts,
  ].join(" ");
}

/** What the store holds. */
function holds(store: Store): Map<string, string> {
  const found = new Map<string, string>();
  for (
    const { workflowId, runId } of store.list({ orderBy: "StartTime", descending: false }, 100_000)
      .rows
  ) {
    const { row, items, head } = store.load(workflowId, runId)!;
    const expected = new TextDecoder().decode(head);
    if (expected !== `head of ${runId} at ${row!.historyLength}`) {
      throw new Error(`run ${runId} has the ${expected}`);
    }
    const ids = eventIds(store.historyRange(workflowId, runId, 1, row!.historyLength));
    if (ids.some((id, i) => id !== i + 1)) throw new Error(`the events of run ${runId} are ${ids}`);
    found.set(
      runId,
      describe(row!, new Map(items.map(({ id, value }) => [id, value])), ids.length),
    );
  }
  return found;
}

const same = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>) =>
  a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);

export class PowerLossLoop {
  readonly #sqlite: PowerSqlite;
  readonly #options: PowerLossOptions;
  readonly #model = new Model();
  #made = 0;
  #acknowledged = 0;
  readonly figures: PowerLossFigures = {
    crashes: 0,
    processDeaths: 0,
    atOpening: 0,
    acknowledged: 0,
    lost: 0,
    losing: 0,
    unacknowledgedKept: 0,
    syncs: 0,
    problems: [],
  };

  constructor(sqlite: PowerSqlite, options: PowerLossOptions) {
    this.#sqlite = sqlite;
    this.#options = options;
  }

  /** Runs all crashes; ends at the first problem. */
  run(): PowerLossFigures {
    const { crashes, random, onCrash } = this.#options;
    let disk = new PowerDisk();
    while (this.figures.crashes < crashes && this.figures.problems.length === 0) {
      // Most failures hit the work, some the opening, whose changes are few.
      disk.failsAt = 1 + Math.floor(random() * (random() < 0.2 ? 12 : 1500));
      this.#work(disk);
      this.figures.crashes++;
      this.figures.syncs += disk.syncs;
      const processDeath = random() < 0.25;
      if (processDeath) this.figures.processDeaths++;
      const fate = FATES[Math.floor(random() * FATES.length)]!;
      disk = processDeath ? disk.afterProcessDeath() : disk.afterPowerLoss(fate, random);
      this.#judge(
        disk.copy(),
        processDeath,
        processDeath ? "the death of the process" : `a power loss where ${fate}`,
      );
      onCrash?.(this.figures);
    }
    return this.figures;
  }

  #open(disk: PowerDisk): Store {
    const { opensWith, synchronous, random } = this.#options;
    return this.#sqlite.open(disk, opensWith ?? synchronous, 20 + Math.floor(random() * 300));
  }

  /** Opens, and commits until the end comes. */
  #work(disk: PowerDisk): void {
    let store: Store | undefined;
    try {
      store = this.#open(disk);
      // Every later read returns this to callers, also data that the death of a process left there
      // before its sync.
      this.#acknowledged = this.#model.commits;
      // A store that is closed well must be whole, too.
      for (let commits = 0; !disk.dead; commits++) {
        if (commits > 0 && this.#options.random() < 0.01) {
          store.close();
          store = this.#open(disk);
        }
        this.#commit(store);
      }
    } catch (e) {
      if (!disk.dead) throw e;
      if (store === undefined) this.figures.atOpening++;
    }
    try {
      store?.close();
    } catch {
      // The power is off.
    }
  }

  #commit(store: Store): void {
    const { random } = this.#options;
    const model = this.#model;
    const runs = [...model.current().values()];
    model.commits++;
    const closed = runs.filter(({ row }) => row.closeTimeMs > 0);
    if (closed.length > 10 && random() < 0.3) {
      for (const { row } of closed) model.purge(row.runId);
      store.purge({ closedBefore: 1e12 });
    } else {
      const writes: RunWrite[] = [];
      const touched = new Set<string>();
      for (let i = Math.floor(random() * 4); i >= 0; i--) {
        const open = runs.filter(({ row }) => row.closeTimeMs === 0 && !touched.has(row.runId));
        const found = open.length > MOST_OPEN || random() < 0.7
          ? open[Math.floor(random() * open.length)]
          : undefined;
        const next = found === undefined ? this.#create() : this.#change(found);
        touched.add(next.row!.runId);
        writes.push(next);
      }
      store.commit(writes);
    }
    this.#acknowledged = model.commits;
    this.figures.acknowledged++;
  }

  #bytes(): Uint8Array {
    const { random } = this.#options;
    const bytes = new Uint8Array(Math.floor(random() ** 4 * 20_000));
    for (let at = 0; at < bytes.length; at += 97) bytes[at] = Math.floor(random() * 256);
    return bytes;
  }

  #create(): RunWrite {
    const made = row(`wf-${this.#made % 7}`, `run-${this.#made++}`, {
      historyLength: 2,
      memo: this.#bytes(),
    });
    const value = this.#bytes();
    this.#model.put(made, new Map([["first", value]]));
    return write(made, {
      create: true,
      append: [batch(1, 2)],
      put: [{ kind: 1, id: "first", value }],
    });
  }

  #change(
    { row: before, items }: { row: RunRow; items: ReadonlyMap<string, Uint8Array> },
  ): RunWrite {
    const { random } = this.#options;
    const events = 1 + Math.floor(random() * 40);
    const closes = random() < 0.3;
    const last = before.historyLength + events;
    const after: RunRow = {
      ...before,
      historyLength: last,
      ...(closes && { closeTimeMs: 2_000 + this.#made, status: 2 }),
    };
    const next = new Map(items);
    const put = { kind: 1, id: `item-${Math.floor(random() * 5)}`, value: this.#bytes() };
    next.set(put.id, put.value);
    const gone = [...items.keys()].find((id) => id !== put.id && random() < 0.3);
    if (gone !== undefined) next.delete(gone);
    this.#model.put(after, next);
    return write(after, {
      append: [batch(before.historyLength + 1, last)],
      put: [put],
      remove: gone === undefined ? [] : [{ kind: 1, id: gone, value: new Uint8Array(0) }],
    });
  }

  /** Opens a copy of what is left and holds it against the model. */
  #judge(disk: PowerDisk, processDeath: boolean, how: string): void {
    const { figures } = this;
    const problem = (text: string) =>
      void figures.problems.push(`after crash ${figures.crashes}, ${how}: ${text}`);
    let store: Store | undefined;
    try {
      store = this.#open(disk);
      for (const damage of store.check()) problem(damage);
      const found = holds(store);
      const last = this.#model.commits;
      let kept = last;
      while (kept >= 0 && !same(found, this.#model.at(kept))) kept--;
      if (kept < 0) {
        return problem(`the store holds what no number of its ${last} commits made`);
      }
      if (kept < this.#acknowledged) {
        const lost = this.#acknowledged - kept;
        if (this.#options.synchronous === "FULL" || processDeath) {
          problem(`${lost} acknowledged commits are lost`);
        }
        figures.lost += lost;
        figures.losing++;
      } else figures.unacknowledgedKept += kept - this.#acknowledged;
      this.#model.backTo(kept);
      this.#acknowledged = Math.min(this.#acknowledged, kept);
    } catch (e) {
      problem(String(e));
    } finally {
      store?.close();
    }
  }
}
