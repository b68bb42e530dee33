// The error of everything that the determinism guard stops. It fails the workflow task, not the workflow: once the code is fixed the run
// goes on. It is remembered by the run, so that a try/catch in workflow code does not hide it.
import { WorkflowTaskError } from "../../executor/program/errors.ts";

/** Workflow code used something whose answer differs between a run and its replay. */
export class DeterminismError extends WorkflowTaskError {
  override name = "DeterminismError";
  /** What was used: "fetch", "process.env.HOME". */
  readonly api: string;

  constructor(api: string, advice: string) {
    super(`${api} is not available in workflow code: ${advice}`);
    this.api = api;
  }
}
