// The tasks of one run are worked on one after the other, each from its coming to the service's answer to its report. A service may give a
// run's next task out before the worker has that answer, because it tells the callers first; and the answer may say that the task never
// was (nothing but refused updates in it), so that the next one has events of the same numbers. Taken up too early, its events would look
// like known ones, and what came with them would be lost.

export class RunTurns {
  /** Runs with a task in work, and who waits behind it. */
  readonly #busy = new Map<string, (() => void)[] | undefined>();

  /** Takes the run's turn, at once (undefined) or when those before are done. Whoever has it calls `leave`. */
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

  /** Passes the turn on, in the order of coming. */
  leave(runId: string): void {
    const next = this.#busy.get(runId)?.shift();
    if (next === undefined) this.#busy.delete(runId);
    else next();
  }
}
