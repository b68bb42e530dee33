// The published state of a run and the number of awaits that its code has passed, from the store.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import { ValueTree } from "../ui/value_tree.tsx";
import { count } from "../ui/time.ts";
import { readShown, type ShownOfRun } from "./service.ts";
import { namespace } from "./state.ts";
import { type Watched, watchedRun } from "./watched_run.ts";

/** At least this time between two requests: each is an SQL query. */
const REST_MS = 1000;

/** After an error. */
const AGAIN_MS = 5000;

/** A Temporal cluster does not have it. */
let isOffered = true;

export function ShownState({ run }: { run: Watched }): JSX.Element | null {
  const shown = useSignal<ShownOfRun | undefined>(undefined);
  const trouble = useSignal<string | undefined>(undefined);
  const askedMs = useRef(-REST_MS);
  const events = watchedRun.value?.model.lines.length ?? 0;
  useEffect(() => {
    if (!isOffered || events === 0) return;
    let isOver = false;
    const ask = () => {
      askedMs.current = performance.now();
      void readShown(namespace, run.runId).then((found) => {
        shown.value = found;
        trouble.value = undefined;
      }, (error: Error) => {
        if (error instanceof ServiceError && error.code === Code.UNIMPLEMENTED) isOffered = false;
        else if (!isOver) {
          trouble.value = error.message;
          timer = setTimeout(ask, AGAIN_MS);
        }
      });
    };
    let timer = setTimeout(ask, Math.max(0, askedMs.current + REST_MS - performance.now()));
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [run.runId, events]);
  const { phase = null, state = null } = shown.value ?? {};
  if (trouble.value !== undefined) {
    return <p class="section soft">The published state is unknown: {trouble.value}</p>;
  }
  if (phase === null && state === null) return null;
  return (
    <section class="section" id="shown-state" aria-label="Published state">
      <h3>
        Published state {phase !== null && <span>{`${count(phase)} awaits passed`}</span>}
      </h3>
      {state === null
        ? <p class="soft">The workflow has not published a state.</p>
        : <ValueTree key={state} label="Published state" value={parsed(state)} />}
    </section>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
