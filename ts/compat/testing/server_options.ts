// Options of test servers. The server is the embedded engine in this process, so options for an
// external program are rejected by name.
import type { Duration, SearchAttributeType } from "../common/mod.ts";
import type { SearchAttributeKey } from "../common/search_attributes.ts";

/** Program to start; not supported here. */
export type EphemeralServerExecutable =
  | { type: "cached-download"; downloadDir?: string; version?: string; ttl?: Duration }
  | { type: "existing-path"; path: string };

/** Options of the server of `createLocal`. */
export interface DevServerConfig {
  /** Type of the server. */
  type: "dev-server";
  /** Rejected: no program is started. */
  executable?: EphemeralServerExecutable;
  /** SQLite file for the store. Default: in memory. */
  dbFilename?: string;
  /** Default: "default". */
  namespace?: string;
  /** The loopback; others are rejected. */
  ip?: string;
  /** Default: any free one. */
  port?: number;
  /** Rejected: the server has no UI. */
  ui?: boolean;
  /** Rejected: the server has no UI. */
  uiPort?: number;
  /** Level of the server's log. */
  log?: { format: string; level: string };
  /**
   * Arguments of the program that request what this server has (update-with-start, search
   * attributes, no UI); others are rejected.
   */
  extraArgs?: string[];
  /** Ignored: the server accepts all names and types. */
  searchAttributes?: SearchAttributeKey<SearchAttributeType>[];
}

/** Options of the server of `createTimeSkipping`. */
export interface TimeSkippingServerConfig {
  /** Type of the server. */
  type: "time-skipping";
  /** Rejected: no program is started. */
  executable?: EphemeralServerExecutable;
  /** Default: any free one. */
  port?: number;
  /** Same as for `createLocal`. */
  extraArgs?: string[];
}

const PROGRAM = "the server is the embedded engine in this process, and no program is started";
const UI =
  "the server has no UI; `temporalex workflow` of the command line and the debugger show its runs";
const REASONS: { readonly [option: string]: string } = { executable: PROGRAM, ui: UI, uiPort: UI };
const LOOPBACK: readonly (string | undefined)[] = [undefined, "localhost", "127.0.0.1"];

/** Settings of Temporal's server that are always on here. */
const ALWAYS_ON = [
  "frontend.enableExecuteMultiOperation",
  "frontend.enableUpdateWorkflowExecution",
  "frontend.enableUpdateWorkflowExecutionAsyncAccepted",
  "system.forceSearchAttributesCacheRefreshOnRead",
];

/** Returns whether an argument of `temporal server start-dev` requests what this server has. */
function isGiven(flag: string, value: string): boolean {
  if (flag === "--headless") return value === "true";
  if (flag === "--search-attribute") return /^[^=]+=[^=]+$/.test(value);
  return flag === "--dynamic-config-value" &&
    ALWAYS_ON.some((name) => value.toLowerCase() === `${name}=true`.toLowerCase());
}

/**
 * Throws a TypeError for the first unsupported argument: `--flag value`, `--flag=value` or
 * `--headless`.
 */
function refuseArguments(args: readonly string[]): void {
  for (let i = 0; i < args.length; i++) {
    const [, flag, joined] = /^(--?[^=]+)(?:=(.*))?$/s.exec(args[i]!) ?? [undefined, args[i]!];
    const next = args[i + 1];
    const apart = joined === undefined && next !== undefined && !next.startsWith("-");
    const value = joined ?? (apart ? next : "true");
    if (apart) i++;
    if (isGiven(flag, value)) continue;
    const argument = value === "true" ? flag : `${flag} ${value}`;
    throw new TypeError(
      `the option server.extraArgs is not supported with "${argument}": ${PROGRAM}; omit it`,
    );
  }
}

/** Throws a TypeError for an unsupported option. */
export function refuseServerOptions(
  server: Partial<DevServerConfig | TimeSkippingServerConfig>,
): void {
  for (const [name, value] of Object.entries(server)) {
    const reason = REASONS[name];
    const nothing = value === undefined || value === false ||
      (Array.isArray(value) && value.length === 0);
    if (reason !== undefined && !nothing) {
      throw new TypeError(`the option server.${name} is not supported: ${reason}; omit it`);
    }
  }
  refuseArguments(server.extraArgs ?? []);
  const { ip } = server as Partial<DevServerConfig>;
  if (!LOOPBACK.includes(ip)) {
    throw new TypeError(
      `the option server.ip cannot be "${ip}": the server listens only on the loopback (127.0.0.1); omit it`,
    );
  }
}
