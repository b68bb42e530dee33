// The commands of a run on their way to the core. What is issued when an activation has been concluded (in `concludeActivation` of an
// interceptor, and in the reactions of promises that it set off) waits for the next activation, because the official worker collects the
// commands of an activation before its interceptors conclude it. It waits through queries, and for good if no activation comes.
import type { CommandKind } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { CommandPort } from "../executor/program/program.ts";

/** A command as it was issued: its attributes, or the number of what it cancels. */
export interface IssuedCommand {
  readonly kind: CommandKind;
  readonly attributes?: Uint8Array;
  readonly cancels?: number;
  /** Its event groups, encoded. */
  readonly groups?: Uint8Array | undefined;
}

interface HeldCommand {
  readonly command: IssuedCommand;
  /** The line of the user's that issued it, where call sites are recorded. */
  readonly site: string;
}

/** What of a run its commands need. */
interface IssuingRun {
  /** The line that issues the next command; "": the one that calls. */
  site: string;
  calledAt(above: unknown): string;
}

export class IssuedCommands {
  /** An interceptor concludes activations. Nothing else here is asked where there is none. */
  concluded = false;
  /** Commands wait. */
  holding = false;
  readonly #run: IssuingRun;
  #held: HeldCommand[] = [];
  #sent: IssuedCommand[] = [];

  constructor(run: IssuingRun) {
    this.#run = run;
  }

  /** Whether the command waits; else it is to be sent. `above`: what the user's code called. */
  holds(command: IssuedCommand, above: unknown): boolean {
    if (this.holding) this.#held.push({ command, site: this.#run.site || this.#run.calledAt(above) });
    else this.#sent.push(command);
    return this.holding;
  }

  /** An activation begins: what waits goes first. */
  release(port: CommandPort): void {
    this.holding = false;
    const run = this.#run;
    for (const { command, site } of this.#held.splice(0)) {
      this.#sent.push(command);
      run.site = site;
      if (command.cancels === undefined) port.command(command.kind, command.attributes!, command.groups);
      else port.cancel(command.kind, command.cancels, command.groups);
    }
    run.site = "";
  }

  /** Whether any waits. */
  get waiting(): boolean {
    return this.#held.length > 0;
  }

  /** What was sent since the last time. */
  takeSent(): IssuedCommand[] {
    return this.#sent.splice(0);
  }
}
