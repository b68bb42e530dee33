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

const known = newNames();
const sites: MessageSite[] = [];

/** Records the line that called `above`, for the first definition of a name. */
export function noteDefinition(kind: MessageKind, name: string, above: unknown): void {
  const key = `${kind} ${name}`;
  if (!hasLoadedModules() || known[key] === true || sites.length >= MAX_DEFINITIONS) return;
  known[key] = true;
  append(sites, { kind, name, site: callSite(1, above) });
}

/** Returns all recorded definitions. */
export const definitionSites = (): readonly MessageSite[] => sites;
