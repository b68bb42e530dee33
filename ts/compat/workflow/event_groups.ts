// Event groups: markers by which user interfaces show commands and their events together. A command carries that of the message whose
// handler issues it, those of the scopes around the code, and those of its option, in this order; of one id the last.
import { EventGroups } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { defaultPayloadConverter, productConverter } from "../common/payload_converters.ts";
import type { ActiveGroups, GroupMessage, ScopeContext } from "../context.ts";
import type { EventGroupMarker } from "./options.ts";

/** A group that the program has made. */
export abstract class LabelledGroup implements EventGroupMarker {
  readonly id: string;
  readonly #label: string;
  #message: GroupMessage | undefined;

  constructor(label: string, id: string) {
    this.id = id;
    this.#label = label;
  }

  /** User interfaces read the label, so it has the default encoding whatever the program's converter is. */
  get message(): GroupMessage {
    const label = () => productConverter(defaultPayloadConverter).toPayload(this.#label);
    return this.#message ??= { variant: { $case: "label", value: { id: this.id, label: { externalPayloads: [], ...label() } } } };
  }

  abstract withScope<T>(fn: () => Promise<T>): Promise<T>;
}

export const NO_GROUPS: ActiveGroups = { implicit: undefined, explicit: {} };

/** The markers of a command that is issued now: bytes of EventGroups; undefined where there is none. */
export function groupsOf(run: { readonly context: ScopeContext }, directs?: readonly EventGroupMarker[]): Uint8Array | undefined {
  if (directs?.some((marker) => !(marker instanceof LabelledGroup))) {
    throw new Error("Directly attached Event Group Markers must be instances of ExplicitEventGroupMarkerImpl");
  }
  const active = run.context.current()?.groups;
  if (active === undefined && !directs?.length) return undefined;
  const { implicit, explicit } = active ?? NO_GROUPS;
  const merged: { [id: string]: { readonly message: GroupMessage } } = { ...explicit };
  for (const marker of (directs ?? []) as LabelledGroup[]) merged[marker.id] = marker;
  const eventGroupMarkers = Object.values(merged).map(({ message }) => message);
  if (implicit !== undefined) eventGroupMarkers.unshift(implicit);
  return eventGroupMarkers.length === 0 ? undefined : EventGroups.encode({ eventGroupMarkers }).finish();
}
