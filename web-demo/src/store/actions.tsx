// Actions of the open run, shown in the top bar. Other folders register their buttons here: what
// if, share, test.
import { type Signal, signal } from "@preact/signals";
import type { ComponentType, JSX } from "preact";
import type { OpenRun } from "./state.ts";

/** One or more buttons of the top bar. */
export type ActionPart = ComponentType<{ readonly run: OpenRun }>;

export const actionParts: Signal<readonly ActionPart[]> = signal<readonly ActionPart[]>([]);

/** Adds buttons to the left of the existing ones. */
export function addActions(part: ActionPart): void {
  actionParts.value = [part, ...actionParts.value];
}

export const Actions = ({ run }: { run: OpenRun }): JSX.Element => (
  <>{actionParts.value.map((Part, i) => <Part key={i} run={run} />)}</>
);
