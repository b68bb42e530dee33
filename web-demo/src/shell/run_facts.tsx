// Facts of the run in the top bar, and the menu of opened runs.
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { Icon, IconButton } from "../ui/icon.tsx";
import { type Tie, tieOf } from "../store/chain.ts";
import { count, date, lasting } from "../ui/time.ts";
import { FileButton, PasteButton } from "./open_buttons.tsx";
import { closeRun, openedRuns, type OpenRun, showRun } from "../store/state.ts";

export function RunFacts({ run }: { run: OpenRun }): JSX.Element {
  const { type, id, status, startMs, endMs } = run.model.facts;
  const tasks = run.model.tasks.length;
  const events = `${count(run.model.lines.length)} events, ${count(tasks)} task${
    tasks === 1 ? "" : "s"
  }`;
  return (
    <>
      <h1 class="run-name" title={`${type}, from ${run.name}`}>{type}</h1>
      <RunsMenu run={run} />
      {id !== "" && <span class="run-id" title={`workflow id ${id}`}>{id}</span>}
      <span class="fact">{status}</span>
      {startMs !== undefined && endMs !== undefined && (
        <span class="fact">{lasting(endMs - startMs)}</span>
      )}
      <span class="fact">{events}</span>
      {startMs !== undefined && <span class="fact">{date(startMs)}</span>}
    </>
  );
}

const TIES: { readonly [tie in Tie]: string } = {
  before: "previous run of this chain",
  after: "next run of this chain",
  parent: "parent of this run",
  child: "child of this run",
};

/** The opened runs, and buttons to open more. */
function RunsMenu({ run }: { run: OpenRun }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const close = () => dialog.current?.close();
  return (
    <>
      <button
        type="button"
        class="icon-button runs-button"
        id="opened-runs"
        aria-haspopup="dialog"
        aria-label={`Opened runs: ${openedRuns.value.length}`}
        title="Opened runs"
        onClick={() => dialog.current?.showModal()}
      >
        {openedRuns.value.length > 1 && <b>{openedRuns.value.length}</b>}
        <Icon name="down" />
      </button>
      <dialog
        ref={dialog}
        id="runs-menu"
        aria-label="Opened runs"
        onClick={(event) => event.target === dialog.current && close()}
      >
        <ul class="opened">
          {openedRuns.value.map((other) => (
            <li key={other.key}>
              <button
                type="button"
                aria-current={other === run}
                onClick={() => {
                  close();
                  showRun(other);
                }}
              >
                <b>{other.model.facts.type}</b>
                <span class="second">{other.model.facts.id}</span>
                {tieOf(run, other) !== undefined && (
                  <span class="fact">{TIES[tieOf(run, other)!]}</span>
                )}
                <span class="soft">{other.name}, {count(other.model.lines.length)} events</span>
              </button>
              <IconButton
                icon="close"
                label={`Close ${other.name}`}
                onPress={() => closeRun(other)}
              />
            </li>
          ))}
        </ul>
        <p class="button-row">
          <FileButton onChosen={close} />
          <PasteButton />
          <button type="button" class="button" onClick={close}>Close</button>
        </p>
      </dialog>
    </>
  );
}
