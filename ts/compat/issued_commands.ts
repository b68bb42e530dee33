// Commands of a run on their way to the core. Commands issued after the conclusion of an activation
// (in an interceptor's `concludeActivation`, or in reactions to it) wait for the next activation,
// because the official worker collects the commands before its interceptors conclude it. They also
// wait during queries, and forever without another activation.
import type { CommandKind } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { CommandPort } from "../executor/program/program.ts";

/** An issued command: its attributes, or the number of the command that it cancels. */
export interface IssuedCommand {
  readonly kind: CommandKind;
  readonly attributes?: Uint8Array;
  readonly cancels?: number;
  /** Event groups, encoded. */
  readonly groups?: Uint8Array | undefined;
}

interface HeldCommand {
  readonly command: IssuedCommand;
  /** Line of user code that issued it, if call sites are recorded. */
  readonly site: string;
}

/** The part of a run that commands need. */
interface IssuingRun {
  /** Line that issues the next command; "": the calling line. */
  site: string;
  calledAt(above: unknown): string;
}

export class IssuedCommands {
  /** True if an interceptor concludes activations; otherwise nothing else here is used. */
  concluded = false;
  /** True while commands wait. */
  holding = false;
  readonly #run: IssuingRun;
  #held: HeldCommand[] = [];
  #sent: IssuedCommand[] = [];

  constructor(run: IssuingRun) {
    this.#run = run;
  }

  /**
   * Returns whether the command waits; otherwise it is sent. `above`: the function called by user
   * code.
   */
  holds(command: IssuedCommand, above: unknown): boolean {
    if (this.holding) {
      this.#held.push({ command, site: this.#run.site || this.#run.calledAt(above) });
    } else this.#sent.push(command);
    return this.holding;
  }

  /** Begins an activation: waiting commands are sent first. */
  release(port: CommandPort): void {
    this.holding = false;
    const run = this.#run;
    for (const { command, site } of this.#held.splice(0)) {
      this.#sent.push(command);
      run.site = site;
      if (command.cancels === undefined) {
        port.command(command.kind, command.attributes!, command.groups);
      } else port.cancel(command.kind, command.cancels, command.groups);
    }
    run.site = "";
  }

  /** True if any command waits. */
  get waiting(): boolean {
    return this.#held.length > 0;
  }

  /** Returns the commands sent since the last call. */
  takeSent(): IssuedCommand[] {
    return this.#sent.splice(0);
  }
}
