// Source lines of message definitions: `signal("approve")`, `defineUpdate("add")`. Reports of
// divergences name them when a handler is missing. Recorded only in realms that load modules from
// text: there a name keeps its line until the realm ends.
import { append, newNames } from "../../platform/kept_functions.ts";
import type { MessageShape } from "./definition.ts";
import { callSite, hasLoadedModules } from "./call_site.ts";

/** A kind of message. */
export type MessageKind = MessageShape["kind"];

/** A line of workflow code that defines a message or sets its handler. */
export interface MessageSite {
  readonly kind: MessageKind;
  readonly name: string;
  /** The user frame; "" if unknown. */
  readonly site: string;
}

/** Names that are computed in a loop must not fill the memory. */
const MAX_DEFINITIONS = 1000;
/**
 * Definitions of a name whose lines are read: several modules may define it, and a definition
 * inside a workflow function is called in each run.
 */
const MAX_OF_NAME = 16;

const counts = newNames() as unknown as { [key: string]: number };
const known = newNames();
const sites: MessageSite[] = [];

/** Records the line that called `above`, once. */
export function noteDefinition(kind: MessageKind, name: string, above: unknown): void {
  if (!hasLoadedModules() || sites.length >= MAX_DEFINITIONS) return;
  const count = counts[`${kind} ${name}`] ?? 0;
  if (count >= MAX_OF_NAME) return;
  counts[`${kind} ${name}`] = count + 1;
  const site = callSite(1, above);
  const key = `${kind} ${name} ${site}`;
  if (known[key] === true) return;
  known[key] = true;
  append(sites, { kind, name, site });
}

/** Returns all recorded definitions; several of a name if modules share it. */
export const definitionSites = (): readonly MessageSite[] => sites;
