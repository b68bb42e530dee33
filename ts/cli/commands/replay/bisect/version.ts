// A version of the workflow code for a bisection.

export interface CodeVersion {
  /** Name: a short commit, or a module's path. */
  readonly version: string;
  /** Description in addition to the name. */
  readonly text: string;
  readonly commit?: string;
  /** ISO 8601. */
  readonly date?: string;
  readonly author?: string;
  readonly subject?: string;
  /** Writes the version to disk until `close`. */
  open(): Promise<Opened>;
}

export interface Opened {
  readonly workflows: readonly string[];
  readonly interceptors: readonly string[];
  readonly payloadConverter?: string;
  /** Paths are shown relative to it; undefined: unchanged. */
  readonly folder?: string;
  close(): void;
}
