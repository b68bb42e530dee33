// Decode: a button for runs with encoded values. The dialog is loaded when the button is pressed.
import { type Signal, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { addActions } from "../store/actions.tsx";
import type { OpenRun } from "../store/state.ts";
import { DecodeButton } from "./button.tsx";

export const codecIsOpen: Signal<boolean> = signal(false);
/** Undefined until it is loaded. */
export const codecDialog: Signal<ComponentType<{ readonly run: OpenRun }> | undefined> = signal(
  undefined,
);

/** Source text of the pasted or dropped codec. It can contain keys, so it is never stored. */
export const codecText: Signal<string> = signal("");

/** Opens the dialog. `text`: source of a codec that was dropped or pasted on the page. */
export async function openCodec(text?: string): Promise<void> {
  if (text !== undefined) codecText.value = text;
  if (codecDialog.value === undefined) {
    codecDialog.value = (await import("./dialog.tsx")).CodecDialog;
  }
  codecIsOpen.value = true;
}

addActions(DecodeButton);
