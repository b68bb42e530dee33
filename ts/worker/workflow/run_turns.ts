// Tasks of one run are processed one after the other, from arrival to the response to the report. A
// service may dispatch the next task before that response arrives, and the response may state that
// the task did not count (only rejected updates), so that the next one reuses its event ids.

export class RunTurns {
  /** Runs with a task in progress, and the tasks that wait for it. */
  readonly #busy = new Map<string, (() => void)[] | undefined>();

  /**
   * Takes the run's turn, at once (undefined) or after earlier tasks. The caller must call `leave`.
   */
  enter(runId: string): Promise<void> | undefined {
    if (!this.#busy.has(runId)) {
      this.#busy.set(runId, undefined);
      return undefined;
    }
    return new Promise((resolve) => {
      const waiting = this.#busy.get(runId);
      if (waiting === undefined) this.#busy.set(runId, [resolve]);
      else waiting.push(resolve);
    });
  }

  /** Passes the turn on, in order of arrival. */
  leave(runId: string): void {
    const next = this.#busy.get(runId)?.shift();
    if (next === undefined) this.#busy.delete(runId);
    else next();
  }
}
