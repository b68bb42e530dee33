// Share and Test: what is taken away from the open run, as files that the browser saves. The dialogs are loaded when they are asked for.
import { type Signal, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { addActions } from "../app/actions.tsx";
import type { OpenRun } from "../app/state.ts";
import { TakeAwayButtons } from "./buttons.tsx";

export type Dialogs = "share" | "test";

/** The dialog in sight. */
export const shareIsOpen: Signal<boolean> = signal(false);
export const testIsOpen: Signal<boolean> = signal(false);
/** Both dialogs, once they are loaded. */
export const dialogs: Signal<ComponentType<{ readonly run: OpenRun }> | undefined> = signal(undefined);

/** Shows a dialog. */
export async function openDialog(which: Dialogs): Promise<void> {
  if (dialogs.value === undefined) dialogs.value = (await import("./dialogs.tsx")).TakeAwayDialogs;
  (which === "share" ? shareIsOpen : testIsOpen).value = true;
}

addActions(TakeAwayButtons);
