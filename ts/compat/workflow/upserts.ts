// upsertSearchAttributes and upsertMemo: issue a command and update the run's info.
import {
  CommandKind,
  ModifyWorkflowProperties,
  UpsertSearchAttributes,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import {
  keyOfUntyped,
  searchAttributePayloads,
  type SearchAttributes,
  type SearchAttributeUpdatePair,
  type SearchAttributeValue,
  type TypedSearchAttributes,
} from "../common/search_attributes.ts";
import { currentCompatRun } from "../current.ts";
import { encodeGroups } from "./event_groups.ts";
import { encodeWith } from "../../executor/program/encode.ts";

/**
 * Changes search attributes of the run: pairs of key and value (null removes), or lists by name (an
 * empty one removes).
 */
export function upsertSearchAttributes(
  searchAttributes: SearchAttributes | SearchAttributeUpdatePair[],
): void {
  const run = currentCompatRun(
    "Workflow.upsertSearchAttributes(...) may only be used from a Workflow Execution.",
  );
  if (searchAttributes === undefined || searchAttributes === null) {
    throw new Error("searchAttributes must be a non-null SearchAttributes");
  }
  const payloads = Array.isArray(searchAttributes)
    ? searchAttributePayloads(undefined, searchAttributes)
    : searchAttributePayloads(searchAttributes, undefined);
  const bytes = encodeWith(
    UpsertSearchAttributes,
    UpsertSearchAttributes.fromPartial({ searchAttributes: payloads }),
  );
  run.command(CommandKind.COMMAND_KIND_UPSERT_SEARCH_ATTRIBUTES, bytes, encodeGroups(run));
  const untyped = { ...run.info.searchAttributes };
  let typed = run.info.typedSearchAttributes;
  if (Array.isArray(searchAttributes)) {
    typed = typed.updateCopy(searchAttributes);
    for (const { key, value } of searchAttributes) {
      if (value === null || value === undefined) delete untyped[key.name];
      else untyped[key.name] = (Array.isArray(value) ? value : [value]) as SearchAttributeValue;
    }
  } else {
    for (const [name, values] of Object.entries(searchAttributes)) {
      typed = mergeUntyped(typed, untyped, name, values as SearchAttributeValue | undefined);
    }
  }
  run.info = { ...run.info, searchAttributes: untyped, typedSearchAttributes: typed };
}

function mergeUntyped(
  typed: TypedSearchAttributes,
  untyped: SearchAttributes,
  name: string,
  values: SearchAttributeValue | undefined,
): TypedSearchAttributes {
  const known = typed.getAll().find((pair) => pair.key.name === name)?.key;
  if (values === undefined || values.length === 0) {
    delete untyped[name];
    return known === undefined
      ? typed
      : typed.updateCopy([{ key: known, value: null } as SearchAttributeUpdatePair]);
  }
  const key = keyOfUntyped(name, values);
  if (key === undefined) return typed;
  untyped[name] = values;
  // TEXT may be a keyword as well: the known type is right.
  const type = key.type === "TEXT" ? known?.type ?? "TEXT" : key.type;
  const single: unknown = values.length === 1 ? values[0] : values;
  const value = type === "DATETIME" ? new Date(single as string) : single;
  return typed.updateCopy([{ key: { name, type }, value } as SearchAttributeUpdatePair]);
}

/** Merges into the run's memo; null and undefined remove a key. */
export function upsertMemo(memo: Record<string, unknown>): void {
  const run = currentCompatRun(
    "Workflow.upsertMemo(...) may only be used from a Workflow Execution.",
  );
  if (memo === undefined || memo === null) throw new Error("memo must be a non-null Record");
  const payloads = Object.entries(memo).map((
    [key, value],
  ) => [key, run.converter.toPayload(value ?? undefined)]);
  const bytes = encodeWith(
    ModifyWorkflowProperties,
    ModifyWorkflowProperties.fromPartial({ memo: Object.fromEntries(payloads) }),
  );
  run.command(CommandKind.COMMAND_KIND_MODIFY_WORKFLOW_PROPERTIES, bytes, encodeGroups(run));
  const merged = Object.entries({ ...run.info.memo, ...memo }).filter(([, value]) =>
    value !== undefined && value !== null
  );
  run.info = { ...run.info, memo: Object.fromEntries(merged) };
}
