// The error for everything that the determinism guard blocks. It fails the workflow task, not the
// workflow: the run continues once the code is fixed. The run records it, so that a try/catch in
// workflow code does not hide it.
import { WorkflowTaskError } from "../../executor/program/errors.ts";

/** Thrown when workflow code uses an API whose result differs between a run and its replay. */
export class DeterminismError extends WorkflowTaskError {
  override name = "DeterminismError";
  /** The API: "fetch", "process.env.HOME". */
  readonly api: string;

  constructor(api: string, advice: string) {
    super(`${api} is not available in workflow code: ${advice}`);
    this.api = api;
  }
}
