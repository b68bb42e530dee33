// The panes of a run without code. They are not part of the first load, which shows a sample with
// its code.
import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { notify } from "../store/notices.ts";
import type { OpenRun } from "../store/state.ts";

const panes: Signal<typeof import("./panes.ts") | undefined> = signal<
  typeof import("./panes.ts") | undefined
>(undefined);
let isAsked = false;

function load(): void {
  if (isAsked) return;
  isAsked = true;
  import("./panes.ts").then((loaded) => (panes.value = loaded), (error) => {
    isAsked = false;
    notify({
      title: "A part of this page cannot be loaded:",
      text: `${(error as Error).message}.`,
      advice: "Reload the page.",
    });
  });
}

export function NoCodeMiddle({ run }: { run: OpenRun }): JSX.Element | null {
  if (panes.value === undefined) load();
  return panes.value === undefined ? null : <panes.value.NoCodeMiddlePane run={run} />;
}

export function NoCodeDetails({ run }: { run: OpenRun }): JSX.Element | null {
  return panes.value === undefined ? null : <panes.value.NoCodeDetailsPane run={run} />;
}
