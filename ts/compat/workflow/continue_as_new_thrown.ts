// What ends a run that continues as new: it works by throwing.
import type { ContinueAsNew as ContinueAsNewCommand } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";

/** What continueAsNew throws. */
export class ContinueAsNew extends Error {
  override name = "ContinueAsNew";
  /** What the next run starts with. */
  readonly command: ContinueAsNewCommand;
  /** Its event groups, encoded. */
  readonly groups: Uint8Array | undefined;

  constructor(command: ContinueAsNewCommand, groups?: Uint8Array) {
    super("Workflow continued as new");
    this.command = command;
    this.groups = groups;
  }
}
