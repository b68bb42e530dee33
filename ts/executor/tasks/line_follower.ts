// Where a replay is while it runs. Code that never ends gives no trace: what was told last is all that is known of it.
import type { LineProbes, LineWatcher } from "../program/line_probe.ts";

/** Where a replay is, or was last. */
export interface LineAt {
  /** "file:line:column" */
  readonly location: string;
  /** Points that the activation had run by then. */
  readonly ran: number;
}

/** What is followed: from the task on that started at this event, and there after so many points. */
export interface Followed {
  readonly task: number;
  readonly after: number;
}

/** So many points are told one by one, and then ever fewer: what was told last is at most a 64th of all points old. */
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

  /** The activation of a task begins. */
  begin(startedEventId: number): void {
    const { task, after } = this.#followed;
    if (startedEventId < task) return;
    this.#ran = 0;
    this.#next = startedEventId === task ? after : 0;
    this.#each = this.#next + TOLD_EACH;
    this.#probes.watcher = this;
  }

  /** The replay is over. */
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
