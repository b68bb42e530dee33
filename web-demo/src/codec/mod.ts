// Decode: where a run has values that only a codec reads, the button for it. The dialog and all behind it are loaded when it is pressed.
import { type Signal, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { addActions } from "../app/actions.tsx";
import type { OpenRun } from "../app/state.ts";
import { DecodeButton } from "./button.tsx";

export const codecIsOpen: Signal<boolean> = signal(false);
/** Once it is loaded. */
export const codecDialog: Signal<ComponentType<{ readonly run: OpenRun }> | undefined> = signal(undefined);

/** The text of a codec that was pasted or dropped; it is in this tab's memory alone. */
export const codecText: Signal<string> = signal("");

/** Opens the dialog. `text`: of a codec that came in by a drop or a paste. */
export async function openCodec(text?: string): Promise<void> {
  if (text !== undefined) codecText.value = text;
  if (codecDialog.value === undefined) codecDialog.value = (await import("./dialog.tsx")).CodecDialog;
  codecIsOpen.value = true;
}

addActions(DecodeButton);
