// Share and Test: save the open run as files or as a link. The dialogs are loaded when one is
// opened.
import { type Signal, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { addActions } from "../store/actions.tsx";
import type { OpenRun } from "../store/state.ts";
import { TakeAwayButtons } from "./buttons.tsx";

export type Dialogs = "share" | "test";

/** The dialog that is open. */
export const shareIsOpen: Signal<boolean> = signal(false);
export const testIsOpen: Signal<boolean> = signal(false);
/** Both dialogs; undefined until they are loaded. */
export const dialogs: Signal<ComponentType<{ readonly run: OpenRun }> | undefined> = signal(
  undefined,
);

/** Loads the dialogs if needed, then opens one. */
export async function openDialog(which: Dialogs): Promise<void> {
  if (dialogs.value === undefined) dialogs.value = (await import("./dialogs.tsx")).TakeAwayDialogs;
  (which === "share" ? shareIsOpen : testIsOpen).value = true;
}

addActions(TakeAwayButtons);
