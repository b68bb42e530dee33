// A version of the workflow code that a bisection may look at.

export interface CodeVersion {
  /** As it is named: a short commit, a module's path. */
  readonly version: string;
  /** For people, beside the name. */
  readonly text: string;
  readonly commit?: string;
  /** ISO 8601. */
  readonly date?: string;
  readonly author?: string;
  readonly subject?: string;
  /** Has it on the disk until `close`. */
  open(): Promise<Opened>;
}

/** Its modules. */
export interface Opened {
  readonly workflows: readonly string[];
  readonly interceptors: readonly string[];
  readonly payloadConverter?: string;
  /** Paths are told relative to it; undefined: as they are. */
  readonly folder?: string;
  close(): void;
}
