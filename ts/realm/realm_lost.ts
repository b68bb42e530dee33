// The error of a task whose realm was lost. By itself, because programs name it that never start a realm of that kind.
import { WorkflowTaskError } from "../executor/program/errors.ts";

/** The workflow's code never came back, or took its realm down. */
export class RealmLostError extends WorkflowTaskError {
  override name = "RealmLostError";
}
