// Changes of search attributes and memo during a run. These commands have no response: the server
// merges them, and so does the run, whose own view must not wait for the server.
import {
  CommandKind,
  ModifyWorkflowProperties,
  UpsertSearchAttributes,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { defaultPayloadConverter } from "../../converter/payload.ts";
import {
  type SearchAttributeChanges,
  toSearchAttributeChanges,
} from "../../converter/search_attributes.ts";
import { encodeWith, wire, type WirePayload, wirePayloads } from "../program/encode.ts";
import type { RunState } from "../scheduler/run_state.ts";

type Fields = { readonly [name: string]: WirePayload };

/** The list of patches, which the core sets. */
const CHANGE_VERSION = "TemporalChangeVersion";

/**
 * Throws a TypeError for values of wrong types, and for the attribute that lists the run's patches.
 */
export function recordSearchAttributes(run: RunState, changes: SearchAttributeChanges): void {
  const searchAttributes = wirePayloads(toSearchAttributeChanges(changes));
  if (Object.keys(searchAttributes).length === 0) return;
  if (Object.hasOwn(searchAttributes, CHANGE_VERSION)) {
    throw new TypeError(
      `search attribute "${CHANGE_VERSION}" is reserved for the patches of a run, which patched() sets`,
    );
  }
  run.issue(
    CommandKind.COMMAND_KIND_UPSERT_SEARCH_ATTRIBUTES,
    encodeWith(UpsertSearchAttributes, { searchAttributes }),
  );
  run.info!.merge({ searchAttributes });
}

/** null and undefined remove a key. */
export function recordMemo(run: RunState, changes: { readonly [key: string]: unknown }): void {
  // A removal must use the server's encoding of "no value", with any converter.
  const payload = (value: unknown) =>
    value === undefined || value === null
      ? defaultPayloadConverter.toPayload(undefined)
      : run.converter.toPayload(value);
  const memo: Fields = Object.fromEntries(
    Object.entries(changes).map(([key, value]) => [key, wire(payload(value))]),
  );
  if (Object.keys(memo).length === 0) return;
  run.issue(
    CommandKind.COMMAND_KIND_MODIFY_WORKFLOW_PROPERTIES,
    encodeWith(ModifyWorkflowProperties, { memo }),
  );
  run.info!.merge({ memo });
}
