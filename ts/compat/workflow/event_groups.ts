// Event groups: markers for user interfaces. A command carries the marker of the message whose
// handler issues it, those of surrounding scopes, and those of its option, in this order; the last
// one of each id.
import { EventGroups } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { defaultPayloadConverter, productConverter } from "../common/payload_converters.ts";
import type { ActiveGroups, GroupMessage, ScopeContext } from "../context.ts";
import type { EventGroupMarker } from "./options.ts";
import { encodeWith } from "../../executor/program/encode.ts";

/** A group created by the program. */
export abstract class LabeledGroup implements EventGroupMarker {
  readonly id: string;
  readonly #label: string;
  #message: GroupMessage | undefined;

  constructor(label: string, id: string) {
    this.id = id;
    this.#label = label;
  }

  /** The label has the default encoding, because user interfaces read it. */
  get message(): GroupMessage {
    const label = () => productConverter(defaultPayloadConverter).toPayload(this.#label);
    return this.#message ??= {
      variant: {
        $case: "label",
        value: { id: this.id, label: { externalPayloads: [], ...label() } },
      },
    };
  }

  abstract withScope<T>(fn: () => Promise<T>): Promise<T>;
}

export const NO_GROUPS: ActiveGroups = { implicit: undefined, explicit: {} };

/** Returns the markers of a command issued now, as bytes of EventGroups; undefined without any. */
export function encodeGroups(
  run: { readonly context: ScopeContext },
  directs?: readonly EventGroupMarker[],
): Uint8Array | undefined {
  if (directs?.some((marker) => !(marker instanceof LabeledGroup))) {
    throw new Error(
      "Directly attached Event Group Markers must be instances of ExplicitEventGroupMarkerImpl",
    );
  }
  const active = run.context.current()?.groups;
  if (active === undefined && !directs?.length) return undefined;
  const { implicit, explicit } = active ?? NO_GROUPS;
  const merged: { [id: string]: { readonly message: GroupMessage } } = { ...explicit };
  for (const marker of (directs ?? []) as LabeledGroup[]) merged[marker.id] = marker;
  const eventGroupMarkers = Object.values(merged).map(({ message }) => message);
  if (implicit !== undefined) eventGroupMarkers.unshift(implicit);
  return eventGroupMarkers.length === 0
    ? undefined
    : encodeWith(EventGroups, { eventGroupMarkers });
}
