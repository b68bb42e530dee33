// Options of test servers. The server is the embedded engine in this process: options that only an
// external program has cause a warning, and those that would change what a test does are rejected.
import { attributeTypeOf } from "../../engine/attribute_register.ts";
import type { Duration, SearchAttributeType } from "../common/mod.ts";
import type { SearchAttributeKey } from "../common/search_attributes.ts";

/** Program to start; ignored with a warning. */
export type EphemeralServerExecutable =
  | { type: "cached-download"; downloadDir?: string; version?: string; ttl?: Duration }
  | { type: "existing-path"; path: string };

/** Options of the server of `createLocal`. */
export interface DevServerConfig {
  type: "dev-server";
  /** Ignored with a warning: no program is started. */
  executable?: EphemeralServerExecutable;
  /** SQLite file for the store. Default: in memory. */
  dbFilename?: string;
  /** Default: "default". */
  namespace?: string;
  /** The loopback; others are rejected. */
  ip?: string;
  /** Default: any free one. */
  port?: number;
  /** Ignored with a warning: the server has no UI. */
  ui?: boolean;
  /** Ignored with a warning: the server has no UI. */
  uiPort?: number;
  /** Level of the server's log. */
  log?: { format: string; level: string };
  /**
   * Arguments of the program. Those that name a store, an address or a namespace are rejected;
   * others are ignored, with a warning if this server lacks what they request.
   */
  extraArgs?: string[];
  /** Names to register. With at least one, the server rejects other names, as Temporal's does. */
  searchAttributes?: SearchAttributeKey<SearchAttributeType>[];
}

/** Options of the server of `createTimeSkipping`. */
export interface TimeSkippingServerConfig {
  type: "time-skipping";
  /** Ignored with a warning: no program is started. */
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

/** Arguments that change what a test does, with the option to use. */
const INSTEAD: { readonly [flag: string]: string } = {
  "--namespace": "server.namespace",
  "-n": "server.namespace",
  "--db-filename": "server.dbFilename",
  "-f": "server.dbFilename",
  "--port": "server.port",
  "-p": "server.port",
  "--ip": "server.ip",
};

/** Reads `--flag value`, `--flag=value` and `--headless`, which has the value "true". */
function* flagsIn(args: readonly string[]): Iterable<[flag: string, value: string]> {
  for (let i = 0; i < args.length; i++) {
    const [, flag, joined] = /^(--?[^=]+)(?:=(.*))?$/s.exec(args[i]!) ?? [undefined, args[i]!];
    const next = args[i + 1];
    const apart = joined === undefined && next !== undefined && !next.startsWith("-");
    yield [flag, joined ?? (apart ? next : "true")];
    if (apart) i++;
  }
}

/**
 * Returns the search attributes to register, with numbers of IndexedValueType. Throws a TypeError
 * for an unknown type.
 */
export function searchAttributesOf(
  { searchAttributes = [], extraArgs = [] }: Pick<
    Partial<DevServerConfig>,
    "searchAttributes" | "extraArgs"
  >,
): { [name: string]: number } {
  const given: [string, string][] = searchAttributes.map(({ name, type }) => [name, type]);
  for (const [flag, value] of flagsIn(extraArgs)) {
    const [, name, type] = /^([^=]+)=([^=]+)$/.exec(value) ?? [];
    if (flag === "--search-attribute" && name !== undefined) given.push([name, type!]);
  }
  return Object.fromEntries(given.map(([name, type]) => {
    const number = attributeTypeOf(type);
    if (number !== undefined) return [name, number];
    throw new TypeError(
      `unknown type "${type}" of the search attribute ${name}: use Text, Keyword, Int, Double, Bool, Datetime or KeywordList`,
    );
  }));
}

/**
 * Returns the arguments without a meaning here. Throws a TypeError for one that an option replaces.
 */
function ignoredArguments(args: readonly string[]): string[] {
  const ignored: string[] = [];
  for (const [flag, value] of flagsIn(args)) {
    const option = INSTEAD[flag];
    if (option !== undefined) {
      throw new TypeError(
        `the option server.extraArgs is not supported with "${flag}": ${PROGRAM}; use ${option}`,
      );
    }
    if (!isGiven(flag, value)) ignored.push(value === "true" ? flag : `${flag} ${value}`);
  }
  return ignored;
}

/** Warns of options without a meaning here. Throws a TypeError for an unsupported option. */
export function checkServerOptions(
  server: Partial<DevServerConfig | TimeSkippingServerConfig>,
  warn: (message: string) => void,
): void {
  for (const [name, value] of Object.entries(server)) {
    const reason = REASONS[name];
    if (reason !== undefined && value) warn(`Ignoring the option server.${name}: ${reason}`);
  }
  const ignored = ignoredArguments(server.extraArgs ?? []);
  if (ignored.length > 0) {
    warn(`Ignoring server.extraArgs ${ignored.map((one) => `"${one}"`).join(", ")}: ${PROGRAM}`);
  }
  const { ip } = server as Partial<DevServerConfig>;
  if (!LOOPBACK.includes(ip)) {
    throw new TypeError(
      `the option server.ip cannot be "${ip}": the server listens only on the loopback (127.0.0.1); omit it`,
    );
  }
}
