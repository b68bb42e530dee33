// What if: the button in the top bar, and the screen behind it, which is loaded when it is asked for.
import { type Signal, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { addActions } from "../app/actions.tsx";
import type { OpenRun } from "../app/state.ts";
import type { RunItem } from "../app/run_model.ts";
import { changeThis, legalNow } from "../inspector/legal_now.ts";
import { WhatIfButton } from "./button.tsx";

interface NewMessage {
  readonly kind: "update" | "signal";
  readonly name: string;
}

/** The run whose branches are in sight. */
export const whatIfRun: Signal<OpenRun | undefined> = signal(undefined);
/** What the inspector asked for, a new message or a change of a thing: the screen's form begins with it. */
export const asked: Signal<NewMessage | RunItem | undefined> = signal(undefined);
/** Once it is loaded. */
export const screen: Signal<ComponentType<{ readonly run: OpenRun }> | undefined> = signal(undefined);

/** Shows the branches of a run. `begin`: what the form begins with. */
export function openWhatIf(run: OpenRun, begin?: NewMessage | RunItem): void {
  asked.value = begin;
  whatIfRun.value = run;
  if (screen.value === undefined) void import("./screen.tsx").then(({ WhatIfScreen }) => (screen.value = WhatIfScreen));
}

addActions(WhatIfButton);
legalNow.value = (run, kind, name) => openWhatIf(run, { kind, name });
changeThis.value = openWhatIf;
