// The code of the run at the position: tabs of files, coverage, lines, and the line menu.
import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { bindKeys } from "../store/keys.ts";
import { file as chosenFile, goTo, type OpenRun, position, shownView } from "../store/state.ts";
import { Breakpoints, BreakpointsButton } from "./breakpoints_panel.tsx";
import { linesWithBreakpoints, toggleLine } from "./breakpoints.ts";
import { digitsOf } from "../../../ts/run_view/rows.ts";
import "./code.css";
import { highlighted, shortNames } from "./code_files.ts";
import { codeFacts, runOfLine } from "./code_facts.ts";
import { CodeView } from "./code_view.tsx";
import { editing, LazyEditor } from "./editing.tsx";
import { editSize, editText, originalCode, undoEdits } from "./edits.ts";
import { type CodeFacts, type LineAt, NO_FACTS } from "./facts.ts";
import { lineId } from "./line_id.ts";
import { type LineAction, LineMenu, type OpenMenu } from "./line_menu.tsx";
import { LogPoints, openLogPoint } from "./log_points.tsx";
import { openInEditor } from "./open_in_editor.ts";
import { findParting } from "./parting.ts";
import { findRefusal } from "./refusal.ts";
import { runToStop } from "./stops.ts";
import { OtherFolderButton } from "../open/code_buttons.tsx";
import { TaskTable } from "./task_table.tsx";
import { VersionsList } from "./versions.tsx";
import { workflowAt } from "./workflow_line.ts";
import { type OpenSheet, ValuesSheet } from "./values_sheet.tsx";

/** The line to which keys apply. Undefined: the line at which the run waits. */
const chosenLine: Signal<LineAt | undefined> = signal<LineAt | undefined>(undefined);
const menu: Signal<OpenMenu | undefined> = signal<OpenMenu | undefined>(undefined);
const sheet: Signal<OpenSheet | undefined> = signal<OpenSheet | undefined>(undefined);

const focusCode = () => document.querySelector<HTMLElement>(".code-view")?.focus();

export function CodePane({ run }: { run: OpenRun }): JSX.Element {
  const code = run.code.value!;
  const session = run.session.value;
  const shown = shownView.value;
  const changed = run.changed.value;
  const facts = useMemo(() => codeFacts(session, shown, code, changed), [
    session,
    shown,
    code,
    changed,
  ]);
  const parting = findParting(run);
  const isParted = parting !== undefined && position.value >= parting.position;
  const refused = findRefusal(run);
  const target = refused?.at ?? (isParted ? parting.at ?? facts.at : facts.at);
  const { type } = run.model.facts;
  const start = useMemo(() => workflowAt(code, type), [code, type]);
  const path = code.files.some((one) => one.path === chosenFile.value)
    ? chosenFile.value!
    : target?.path ?? start?.path ?? code.entry;
  const file = highlighted(code, path);
  const before = originalCode(run)?.files.find((one) => one.path === path)?.text;
  const edit = useMemo(
    () =>
      before === undefined || file === undefined
        ? undefined
        : editSize(before, file.lines.join("\n")),
    [before, file],
  );
  const targetLine = target?.path === path ? target.line : undefined;
  const opensAt = start?.path === path ? start.line : undefined;
  const active = chosenLine.value?.path === path
    ? chosenLine.value.line
    : targetLine ?? opensAt ?? 1;
  const actions = lineActions(run, { path, line: active });
  useEffect(() => bindCodeKeys(run), [run]);
  current = { path, line: active };

  return (
    <div class="code-pane">
      <PaneHead
        run={run}
        facts={facts}
        path={path}
        edit={edit === undefined ? "" : editText(edit)}
      />
      {file === undefined
        ? <p class="section say">No file is open. Choose one above.</p>
        : editing.value
        ? (
          <LazyEditor
            run={run}
            path={path}
            line={active}
            red={refused?.at?.path === path
              ? refused.at.line
              : isParted && parting.at?.path === path
              ? parting.at.line
              : undefined}
          />
        )
        : (
          <CodeView
            path={path}
            file={file}
            facts={facts.file(path)}
            target={targetLine}
            opensAt={opensAt}
            call={0}
            red={refused?.at?.path === path
              ? { line: refused.at.line, mark: { text: refused.text, more: "" } }
              : isParted && parting.at?.path === path
              ? { line: parting.at.line, mark: parting.mark }
              : undefined}
            added={edit?.lines ?? NO_LINES}
            breakpoints={linesWithBreakpoints(path)}
            active={active}
            startMs={run.model.lines[0]?.timeMs ?? 0}
            digits={digitsOf(run.model)}
            onActive={(line) => (chosenLine.value = { path, line })}
            onBreakpoint={(line) => toggleLine(path, line)}
            onMenu={(line, { left, bottom }) => {
              chosenLine.value = { path, line };
              menu.value = { line, x: left, y: bottom };
            }}
            onValues={(line, from) => {
              const { top, bottom } = from.getBoundingClientRect();
              sheet.value = { line, top, bottom };
            }}
          />
        )}
      <LineMenu menu={menu} actions={actions} onClose={focusCode} />
      <ValuesSheet
        sheet={sheet}
        values={sheet.value === undefined ? [] : facts.file(path).values(sheet.value.line)}
        onClose={focusCode}
      />
      <LogPoints run={run} code={code} />
      {parting !== undefined && <TaskTable run={run} />}
      <Breakpoints run={run} />
    </div>
  );
}

/** Replays with the current files of the folder that was dropped, also before a reload. */
async function readAgain(run: OpenRun): Promise<void> {
  const { readFolderAgain } = await import("../realm/kept_code.ts");
  const code = await readFolderAgain(run.code.peek()!);
  if (code !== undefined) run.code.value = code;
}

const NO_LINES: ReadonlySet<number> = new Set();
/** Keys are bound once per run. The line that they apply to changes. */
let current: LineAt = { path: "", line: 1 };

function PaneHead(
  { run, facts, path, edit }: { run: OpenRun; facts: CodeFacts; path: string; edit: string },
): JSX.Element {
  const code = run.code.value!;
  const names = shortNames(code.files.map((one) => one.path));
  const original = originalCode(run);
  const verdict = run.verdict.value;
  const { ran } = facts === NO_FACTS ? { ran: undefined } : facts;
  const isEdited = (of: string) =>
    original !== undefined &&
    original.files.find((one) => one.path === of)?.text !==
      code.files.find((one) => one.path === of)?.text;
  return (
    <div class="code-tabs">
      <div class="tabs" role="tablist" aria-label="Files">
        {code.files.map(({ path: one }) => (
          <button
            type="button"
            role="tab"
            key={one}
            aria-selected={one === path}
            title={one}
            onClick={() => (chosenFile.value = one)}
          >
            {names.get(one)}
            {isEdited(one) && <span class="edited" role="img" aria-label="edited">●</span>}
          </button>
        ))}
      </div>
      <span class="grow" />
      {verdict.state === "not parsed" && (
        <span class="not-parsed" role="status" title={verdict.message}>
          not parsed, line {verdict.line}
        </span>
      )}
      {original !== undefined
        ? (
          <span class="coverage">
            edited:<b>{edit === "" ? "another file" : edit}</b>
          </span>
        )
        : ran !== undefined && verdict.state !== "not parsed" && (
          <span class="coverage" title={`${ran.lines} of ${ran.of} lines have run`}>
            <span>
              <b>{ran.lines}</b> of {ran.of} lines have run
            </span>
            <span class="meter" aria-hidden="true">
              <i style={{ width: `${ran.of === 0 ? 0 : ran.lines / ran.of * 100}%` }} />
            </span>
          </span>
        )}
      <BreakpointsButton />
      {original !== undefined && (
        <button
          type="button"
          class="button small"
          title="Restore the code as it was opened"
          onClick={() => undoEdits(run)}
        >
          Undo the edit
        </button>
      )}
      <VersionsList run={run} />
      {original === undefined && code.folder !== undefined && (
        <button
          type="button"
          class="button small wide-only"
          id="read-again"
          title={`Replay with the current files of ${code.folder.name}`}
          onClick={() => void readAgain(run)}
        >
          Read again
        </button>
      )}
      {original === undefined && <OtherFolderButton />}
      <button
        type="button"
        class="button small"
        id="edit"
        aria-pressed={editing.value}
        title={editing.value
          ? "Show the code with its values (e)"
          : "Edit the code. Each change is replayed (e)"}
        onClick={() => (editing.value = !editing.value)}
      >
        {editing.value ? "Done" : "Edit"}
      </button>
    </div>
  );
}

function lineActions(run: OpenRun, at: LineAt): LineAction[] {
  const here = position.value;
  const next = runOfLine(run, at, here, 1);
  const before = runOfLine(run, at, here, -1);
  const first = runOfLine(run, at, 0, 1);
  const never = first === undefined ? "This line never ran" : undefined;
  const open = openInEditor.value;
  const to = (position: number | undefined) => position !== undefined && goTo(position);
  return [
    { label: "Run to here", keyName: "r", off: never, run: () => to(next ?? first) },
    {
      label: "Next time it ran",
      keyName: "]",
      off: next === undefined ? never ?? "Not again after this position" : undefined,
      run: () => to(next),
    },
    {
      label: "Previous time it ran",
      keyName: "[",
      off: before === undefined ? never ?? "Not before this position" : undefined,
      run: () => to(before),
    },
    { label: "Log this", off: never, run: () => openLogPoint(at) },
    { label: "Breakpoint", keyName: "b", run: () => toggleLine(at.path, at.line) },
    { label: "Edit the code", keyName: "e", run: () => (editing.value = true) },
    ...(open === undefined
      ? []
      : [{ label: "Open in your editor", run: () => open(at.path, at.line) }]),
  ];
}

function bindCodeKeys(run: OpenRun): () => void {
  const jump = (by: 1 | -1) => {
    const to = runOfLine(run, current, position.value, by);
    if (to !== undefined) goTo(to);
  };
  return bindKeys([
    { keys: ["["], group: "Move", label: "Previous time this line ran", run: () => jump(-1) },
    { keys: ["]"], group: "Move", label: "Next time this line ran", run: () => jump(1) },
    {
      keys: ["r"],
      group: "Ask",
      label: "Run to this line",
      run: () => lineActions(run, current)[0]!.off ?? lineActions(run, current)[0]!.run(),
    },
    {
      keys: ["b"],
      group: "Ask",
      label: "Breakpoint on this line",
      run: () => toggleLine(current.path, current.line),
    },
    {
      keys: ["e"],
      group: "Ask",
      label: "Edit the code",
      run: () => (editing.value = !editing.value),
    },
    { keys: ["c"], group: "Move", label: "Next breakpoint", run: () => runToStop(run, 1) },
    { keys: ["C"], group: "Move", label: "Previous breakpoint", run: () => runToStop(run, -1) },
    {
      keys: ["m"],
      group: "Ask",
      label: "Open the line menu",
      run: () => {
        const row = document.getElementById(lineId(current.line))?.querySelector(".source");
        if (row === null || row === undefined) return;
        const { left, bottom } = row.getBoundingClientRect();
        menu.value = { line: current.line, x: left, y: bottom };
      },
    },
  ]);
}
