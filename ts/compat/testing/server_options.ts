// Options of the servers of tests. The server is the embedded engine in this very process, so what is for another program is refused by name.
import type { Duration, SearchAttributeType } from "../common/mod.ts";
import type { SearchAttributeKey } from "../common/search_attributes.ts";

/** Which program to start: nothing is started here. */
export type EphemeralServerExecutable =
  | { type: "cached-download"; downloadDir?: string; version?: string; ttl?: Duration }
  | { type: "existing-path"; path: string };

/** Options of the server of `createLocal`. */
export interface DevServerConfig {
  /** What the server is. */
  type: "dev-server";
  /** Refused: no program is started. */
  executable?: EphemeralServerExecutable;
  /** SQLite file for the store. Default: in memory. */
  dbFilename?: string;
  /** Default: "default". */
  namespace?: string;
  /** The loopback; anything else is refused. */
  ip?: string;
  /** Default: any free one. */
  port?: number;
  /** Refused: there is no UI. */
  ui?: boolean;
  /** Refused: there is no UI. */
  uiPort?: number;
  /** Of what the server logs. */
  log?: { format: string; level: string };
  /** Refused: no program is started. */
  extraArgs?: string[];
  /** Taken as they are: the server has every name of every type. */
  searchAttributes?: SearchAttributeKey<SearchAttributeType>[];
}

/** Options of the server of `createTimeSkipping`. */
export interface TimeSkippingServerConfig {
  /** What the server is. */
  type: "time-skipping";
  /** Refused: no program is started. */
  executable?: EphemeralServerExecutable;
  /** Default: any free one. */
  port?: number;
  /** Refused: no program is started. */
  extraArgs?: string[];
}

const PROGRAM = "the server is the embedded engine in this process, and no program is started";
const UI = "the server has no UI; `temporalex workflow` of the command line and the debugger show its runs";
const REASONS: { readonly [option: string]: string } = { executable: PROGRAM, extraArgs: PROGRAM, ui: UI, uiPort: UI };
const LOOPBACK: readonly (string | undefined)[] = [undefined, "localhost", "127.0.0.1"];

/** Throws a TypeError for an option that cannot be honoured. */
export function refuseServerOptions(server: Partial<DevServerConfig | TimeSkippingServerConfig>): void {
  for (const [name, value] of Object.entries(server)) {
    const reason = REASONS[name];
    const nothing = value === undefined || value === false || (Array.isArray(value) && value.length === 0);
    if (reason !== undefined && !nothing) {
      throw new TypeError(`the option server.${name} cannot be honoured: ${reason}; leave it out`);
    }
  }
  const { ip } = server as Partial<DevServerConfig>;
  if (!LOOPBACK.includes(ip)) {
    throw new TypeError(
      `the option server.ip cannot be "${ip}": the server listens on the loopback (127.0.0.1) alone; leave it out`,
    );
  }
}
