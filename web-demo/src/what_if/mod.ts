// What if: the button of the top bar and the screen of branches, which is loaded when it is first
// opened.
import { type Signal, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { addActions } from "../store/actions.tsx";
import type { OpenRun } from "../store/state.ts";
import type { RunItem } from "../store/run_model.ts";
import { changeThis, legalNow } from "../inspector/legal_now.ts";
import { WhatIfButton } from "./button.tsx";

interface NewMessage {
  readonly kind: "update" | "signal";
  readonly name: string;
}

/** The run whose branches are shown. */
export const whatIfRun: Signal<OpenRun | undefined> = signal(undefined);
/** Initial content of the form, set by the inspector: a new message, or the item to change. */
export const asked: Signal<NewMessage | RunItem | undefined> = signal(undefined);
/** Undefined until it is loaded. */
export const screen: Signal<ComponentType<{ readonly run: OpenRun }> | undefined> = signal(
  undefined,
);

/** Shows the branches of a run. `begin`: initial content of the form. */
export function openWhatIf(run: OpenRun, begin?: NewMessage | RunItem): void {
  asked.value = begin;
  whatIfRun.value = run;
  if (screen.value === undefined) {
    void import("./screen.tsx").then(({ WhatIfScreen }) => (screen.value = WhatIfScreen));
  }
}

addActions(WhatIfButton);
legalNow.value = (run, kind, name) => openWhatIf(run, { kind, name });
changeThis.value = openWhatIf;
