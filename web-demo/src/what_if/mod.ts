// What if: the button in the top bar, and the screen behind it, which is loaded when it is asked for.
import { type Signal, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { addActions } from "../app/actions.tsx";
import type { OpenRun } from "../app/state.ts";
import { legalNow } from "../inspector/legal_now.ts";
import { WhatIfButton } from "./button.tsx";

/** The run whose branches are in sight. */
export const whatIfRun: Signal<OpenRun | undefined> = signal(undefined);
/** A message that the inspector asked for: the screen's form begins with it. */
export const asked: Signal<{ readonly kind: "update" | "signal"; readonly name: string } | undefined> = signal(undefined);
/** Once it is loaded. */
export const screen: Signal<ComponentType<{ readonly run: OpenRun }> | undefined> = signal(undefined);

/** Shows the branches of a run. */
export function openWhatIf(run: OpenRun): void {
  whatIfRun.value = run;
  if (screen.value === undefined) void import("./screen.tsx").then(({ WhatIfScreen }) => (screen.value = WhatIfScreen));
}

addActions(WhatIfButton);
legalNow.value = (run, kind, name) => {
  asked.value = { kind, name };
  openWhatIf(run);
};
