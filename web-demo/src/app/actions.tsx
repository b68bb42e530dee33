// What can be done with the run that is open. Parts add theirs here: what if, share, test.
import { type Signal, signal } from "@preact/signals";
import type { ComponentType, JSX } from "preact";
import type { OpenRun } from "./state.ts";

/** A button, or several, in the top bar. */
export type ActionPart = ComponentType<{ readonly run: OpenRun }>;

export const actionParts: Signal<readonly ActionPart[]> = signal<readonly ActionPart[]>([]);

/** Adds a part's buttons, left of those that are there. */
export function addActions(part: ActionPart): void {
  actionParts.value = [part, ...actionParts.value];
}

export const Actions = ({ run }: { run: OpenRun }): JSX.Element => (
  <>{actionParts.value.map((Part, i) => <Part key={i} run={run} />)}</>
);
