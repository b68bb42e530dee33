// Records which runs have running tasks, and reports what the previous process left: the runs that
// may have crashed it, and the held runs.
import { describeHeld } from "../../crash_notes/held_runs.ts";
import { isInTheWay, workNote } from "../../crash_notes/note_files.ts";
import { RunningTasks } from "../../crash_notes/running_tasks.ts";
import type { WorkerSettings } from "../options.ts";

/** Maximum runs in one log record. */
const MAX_NAMED = 20;

export interface NotedTasks {
  readonly running: RunningTasks;
  /** The worker closes the record; otherwise it belongs to the service. */
  readonly own: boolean;
}

/** Undefined if neither the service nor the options provide a file for the record. */
export function noteTasks({ service, crashNote, logger }: WorkerSettings): NotedTasks | undefined {
  const shared = service.runningTasks?.();
  const work = shared === undefined && crashNote !== undefined ? workNote(crashNote) : undefined;
  if (work !== undefined && isInTheWay(crashNote!, "work")) {
    logger.error(
      "crash notes are disabled: the file has other content; set crashNote to a separate file",
      { crashNote },
    );
    return undefined;
  }
  const running = shared ?? (work && new RunningTasks({ work }));
  if (running === undefined) return undefined;
  const died = running.takeDied();
  if (died.length > 0) {
    const runs = died.slice(0, MAX_NAMED).map(({ workflowType, workflowId, runId }) =>
      `${workflowType} "${workflowId}" (run ${runId})`
    );
    const message =
      "the previous process ended while workflow code was running; unless it was killed, one of these runs crashed it";
    logger.error(message, { count: died.length, runs });
  }
  for (const run of running.takeHeld()) {
    const { workflowId, runId, workflowType } = run;
    logger.error(describeHeld(run), { workflowId, runId, workflowType });
  }
  return { running, own: shared === undefined };
}
