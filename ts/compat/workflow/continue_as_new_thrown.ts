// Error by which a run continues as new.
import type { ContinueAsNew as ContinueAsNewCommand } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";

/** Thrown by continueAsNew. */
export class ContinueAsNew extends Error {
  override name = "ContinueAsNew";
  /** Attributes of the next run. */
  readonly command: ContinueAsNewCommand;
  /** Event groups, encoded. */
  readonly groups: Uint8Array | undefined;

  constructor(command: ContinueAsNewCommand, groups?: Uint8Array) {
    super("Workflow continued as new");
    this.command = command;
    this.groups = groups;
  }
}
