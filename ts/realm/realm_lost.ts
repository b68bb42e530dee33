// The error of a task whose realm was lost. In a separate file, because programs that never start
// such a realm use it.
import { WorkflowTaskError } from "../executor/program/errors.ts";

/** Workflow code never yielded, or took down its realm. */
export class RealmLostError extends WorkflowTaskError {
  override name = "RealmLostError";
}
