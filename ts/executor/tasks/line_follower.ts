// Reports positions during a replay. For code that loops forever, the last report is all that is
// known.
import type { LineProbes, LineWatcher } from "../program/line_probe.ts";

/** The current or last position of a replay. */
export interface LineAt {
  /** "file:line:column" */
  readonly location: string;
  /** Number of executed points in the activation. */
  readonly ran: number;
}

/** Start of the reports: the task that started at this event, after this many points. */
export interface Followed {
  readonly task: number;
  readonly after: number;
}

/**
 * Points reported one by one; later ever fewer, so that the last report lags at most 1/64 of all
 * points.
 */
export const TOLD_EACH = 1024;

export class LineFollower implements LineWatcher {
  readonly #probes: LineProbes;
  readonly #followed: Followed;
  readonly #tell: (at: LineAt) => void;
  #ran = 0;
  #next = 0;
  #each = 0;

  constructor(probes: LineProbes, followed: Followed, tell: (at: LineAt) => void) {
    this.#probes = probes;
    this.#followed = followed;
    this.#tell = tell;
  }

  /** Starts the activation of a task. */
  begin(startedEventId: number): void {
    const { task, after } = this.#followed;
    if (startedEventId < task) return;
    this.#ran = 0;
    this.#next = startedEventId === task ? after : 0;
    this.#each = this.#next + TOLD_EACH;
    this.#probes.watcher = this;
  }

  /** Ends the replay. */
  end(): void {
    if (this.#probes.watcher === this) this.#probes.watcher = undefined;
  }

  hit(point: number): void {
    if (++this.#ran < this.#next) return;
    this.#next += this.#ran < this.#each ? 1 : Math.floor(this.#ran / 64);
    this.#tell({ location: this.#locationOf(point), ran: this.#ran });
  }

  awaits(point: number): void {
    this.hit(point);
  }

  calls(point: number): void {
    this.hit(point);
  }

  guarded(): void {}

  tested(): void {}

  operand(): void {}

  caught(): void {}

  #locationOf(point: number): string {
    let first = 0;
    for (const { url, points } of this.#probes.modules) {
      const found = points[point - first];
      if (found !== undefined) return `${url}:${found.line}:${found.column}`;
      first += points.length;
    }
    return "";
  }
}
