// What workflows belong to: an entity (a player, a building) and a correlation (a spell with many
// targets, a trade of two). Both are search attributes of a start, so lists and queries can select
// by them. Another attribute makes timers manual.
import { CORRELATION, ENTITY, TIMERS } from "../converter/belonging_names.ts";
import { SUBSCRIPTION_ATTRIBUTE } from "../converter/subscriptions.ts";
import { Code, ServiceError } from "../service/raw.ts";
import {
  defineSearchAttributeKey,
  type SearchAttributePair,
} from "../converter/search_attributes.ts";
import type { AnyWorkflow } from "./definitions.ts";

/**
 * Errors of a server for an attribute that the namespace does not know, in a start and in a query.
 */
const UNREGISTERED =
  /no mapping defined for search attribute (Workflow\w+)|'(Workflow\w+)' is not a valid search attribute|search attribute (Workflow\w+) is not defined/;
const KEPT_IN: { readonly [attribute: string]: readonly [what: string, type: string] } = {
  [ENTITY]: ["entityId is", "Keyword"],
  [CORRELATION]: ["correlationId is", "Keyword"],
  [SUBSCRIPTION_ATTRIBUTE]: ["subscriptions are", "KeywordList"],
};

/**
 * Returns an error with advice for a call that needs an unregistered attribute; undefined for other
 * errors.
 */
export function unregistered(error: ServiceError, namespace: string): ServiceError | undefined {
  if (error.code !== Code.INVALID_ARGUMENT) return undefined;
  const attribute = UNREGISTERED.exec(error.message)?.slice(1).find((found) => found !== undefined);
  if (attribute === TIMERS) {
    const why =
      `timers: "manual" needs the embedded engine; namespace ${namespace} belongs to a cluster, which fires timers when they are due`;
    return new ServiceError(error.code, why, error.reason, error.metadata, { cause: error });
  }
  const kept = attribute === undefined ? undefined : KEPT_IN[attribute];
  if (kept === undefined) return undefined;
  const [what, type] = kept;
  return new ServiceError(
    error.code,
    `namespace ${namespace} has no search attribute ${attribute}, in which ${what} kept; register it once: ` +
      `temporal operator search-attribute create --namespace ${namespace} --name ${attribute} --type ${type}`,
    error.reason,
    error.metadata,
    { cause: error },
  );
}

/** Selects workflows; all criteria must match. */
export interface WorkflowSelection {
  readonly entityId?: string;
  readonly correlationId?: string;
  /** Definition, or name of the workflow type. */
  readonly workflow?: AnyWorkflow;
}

function checked(name: string, value: unknown): string {
  if (typeof value !== "string" || value === "") {
    throw new TypeError(`${name} must be a non-empty string, not ${JSON.stringify(value)}`);
  }
  return value;
}

interface Belonging {
  readonly entityId?: string;
  readonly correlationId?: string;
  readonly timers?: "manual";
}

/** Returns the search attributes for entity, correlation and timers of a start. */
export function belongings(options: Belonging): SearchAttributePair[] {
  const pairs: SearchAttributePair[] = [];
  const add = (name: string, option: "entityId" | "correlationId") => {
    const value = options[option];
    if (value !== undefined) {
      pairs.push({ key: defineSearchAttributeKey(name, "KEYWORD"), value: checked(option, value) });
    }
  };
  add(ENTITY, "entityId");
  add(CORRELATION, "correlationId");
  if (options.timers !== undefined) {
    if (options.timers !== "manual") {
      throw new TypeError(
        `timers must be "manual" or undefined, not ${JSON.stringify(options.timers)}`,
      );
    }
    pairs.push({ key: defineSearchAttributeKey(TIMERS, "KEYWORD"), value: options.timers });
  }
  return pairs;
}

/** Returns the visibility query of a selection. */
export function queryOf({ entityId, correlationId, workflow }: WorkflowSelection): string {
  const terms: string[] = [];
  const add = (field: string, name: string, value: string | undefined) => {
    if (value !== undefined) {
      terms.push(`${field} = '${checked(name, value).replaceAll("'", "''")}'`);
    }
  };
  add(ENTITY, "entityId", entityId);
  add(CORRELATION, "correlationId", correlationId);
  add(
    "WorkflowType",
    "workflow",
    workflow === undefined || typeof workflow === "string" ? workflow : workflow.name,
  );
  if (terms.length === 0) {
    throw new TypeError(
      "workflows(...) needs entityId, correlationId or workflow; to list all workflows use list()",
    );
  }
  return terms.join(" AND ");
}
