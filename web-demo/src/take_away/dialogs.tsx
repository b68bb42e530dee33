// Dialogs that save files. Share: the history, with or without its values. Test: a test that
// replays the history, which is cut after the divergence.
import { effect, type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import {
  historyJson,
  minimize,
  NoProblemError,
  readHistoryFile,
  redact,
  testFiles,
  type TestRunner,
} from "temporalex/debug";
import type { OpenRun } from "../store/state.ts";
import { theme } from "../store/theme.ts";
import { drawingFile } from "../../../ts/report/drawing_file.ts";
import { isLiveRun } from "../store/live_runs.ts";
import { cutsGaps } from "../timeline/view.ts";
import { PageRealms } from "../realm/page_realm.ts";
import { knownBranches } from "../what_if/branches.ts";
import { Dialog } from "../ui/dialog.tsx";
import { LinkForm } from "./link_form.tsx";
import { shareIsOpen, testIsOpen } from "./mod.ts";
import "./take_away.css";

/** Status text of the open dialog. */
const said: Signal<string> = signal("");
/** Texts that the code depends on. They are listed before the user agrees to keep them. */
const needed: Signal<readonly string[]> = signal([]);

const nameOf = (run: OpenRun): string =>
  (run.model.facts.id || run.model.facts.type || "run").replace(/[^\w.-]+/g, "-");

function save(name: string, text: string, type = "application/json"): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Resolves when no replay of the run is running. */
const replayed = ({ verdict }: OpenRun): Promise<void> =>
  new Promise((resolve) => {
    const end = effect(() => {
      if (verdict.value.state === "replaying") return;
      queueMicrotask(() => end());
      resolve();
    });
  });

/**
 * Calls `body` with a realm for the code of the run, in a new frame; with undefined if the code was
 * not permitted to run.
 */
async function withCode<T>(
  run: OpenRun,
  body: (realm: Awaited<ReturnType<PageRealms["open"]>> | undefined) => Promise<T>,
): Promise<T> {
  await replayed(run);
  const code = run.code.value;
  if (code === undefined || run.session.value === undefined) return await body(undefined);
  const realms = new PageRealms();
  try {
    return await body(await realms.open(code, false));
  } finally {
    realms.dispose();
  }
}

async function tell(work: () => Promise<string>): Promise<void> {
  said.value = "Working…";
  try {
    said.value = await work();
  } catch (error) {
    said.value = (error as Error).message;
  }
}

/** True if saved files contain the decoded values instead of the encoded ones. */
const takesDecoded: Signal<boolean> = signal(false);

/** The history to save: as in the file, unless the user has chosen the decoded values. */
const takenOf = async ({ bytes, encoded }: OpenRun): Promise<Uint8Array> =>
  (await readHistoryFile(takesDecoded.peek() ? bytes : encoded ?? bytes)).bytes;

function Decoded({ run }: { run: OpenRun }): JSX.Element | null {
  if (run.encoded === undefined) return null;
  return (
    <label class="check">
      <input
        type="checkbox"
        name="decoded"
        checked={takesDecoded.value}
        onChange={({ currentTarget }) => (takesDecoded.value = currentTarget.checked)}
      />{" "}
      Include the decoded values
    </label>
  );
}

/**
 * The history without its values, and a status text. Without a history if the user must first agree
 * to keep texts.
 */
async function redacted(run: OpenRun, numbers: boolean, keep: readonly string[]) {
  const bytes = await takenOf(run);
  return await withCode(run, async (realm) => {
    const { history, replaced, needed: texts, verified } = await redact(bytes, {
      ...{ numbers, keep },
      ...(realm !== undefined && { realm }),
    });
    needed.value = texts;
    if (history === undefined) return { text: "The code takes another path without these texts:" };
    const replays = verified === true
      ? "The result replays as before."
      : "Not replayed: the run has no code here.";
    return { history, text: `${replaced} values replaced. ${replays}` };
  });
}

const share = (run: OpenRun, numbers: boolean, keep: readonly string[]): Promise<void> =>
  tell(async () => {
    const { history, text } = await redacted(run, numbers, keep);
    if (history !== undefined) save(`${nameOf(run)}.redacted.json`, historyJson(history));
    return text;
  });

/** `keep`: texts that stay; undefined for a report with all values. */
const makeReport = (
  run: OpenRun,
  numbers: boolean,
  keep: readonly string[] | undefined,
): Promise<void> =>
  tell(async () => {
    const done = keep === undefined
      ? { history: await takenOf(run), text: "" }
      : await redacted(run, numbers, keep);
    const { history } = done;
    if (history === undefined) return done.text;
    const { reportOf, valuesText } = await import("./report.ts");
    const isEncoded = run.encoded !== undefined && !takesDecoded.peek();
    const values = valuesText(keep, numbers);
    const text = await withCode(run, (realm) =>
      reportOf(run, { history, values, isEncoded, ...(realm !== undefined && { realm }) }));
    save(`${nameOf(run)}.report.html`, text, "text/html");
    return keep === undefined ? "Saved a report with all values." : `Saved a report. ${done.text}`;
  });

const makeTest = (run: OpenRun, runner: TestRunner, workflows: string): Promise<void> =>
  tell(async () => {
    const bytes = await takenOf(run);
    return await withCode(run, async (realm) => {
      if (realm === undefined) {
        return "A test needs the code of the run. Drop the code on this page.";
      }
      let left = {
        history: bytes,
        note: "The test fails once the code no longer replays the history.",
      };
      try {
        const { history, events: [before, after] } = await minimize(bytes, { realm });
        left = {
          history,
          note: `${after} of ${before} events. The test fails until the code replays them.`,
        };
      } catch (error) {
        if (!(error instanceof NoProblemError)) throw error;
      }
      const files = testFiles(left.history, { runner, name: nameOf(run), workflows });
      save(files.history.name, files.history.text);
      save(files.test.name, files.test.text);
      return `Saved ${files.test.name} and ${files.history.name}. ${left.note}`;
    });
  });

const makeBranchTest = (
  run: OpenRun,
  branch: number,
  runner: TestRunner,
  workflows: string,
): Promise<void> =>
  tell(async () => {
    const { branchTestFiles } = await import("../../../ts/what_if/test_file.ts");
    const tree = knownBranches(run)!.tree.value;
    const { result, title } = tree.node(branch);
    const { bytes } = await readHistoryFile(run.bytes);
    const name = `${nameOf(run)}.branch-${branch}`;
    const edits = tree.editsOf(branch);
    const files = branchTestFiles(bytes, {
      runner,
      name,
      workflows,
      edits,
      result: result!,
      title: `what if: ${title}`,
    });
    save(files.history.name, files.history.text);
    save(files.test.name, files.test.text);
    return `Saved ${files.test.name} and ${files.history.name}. The test expects the result that the branch has here.`;
  });

export function TakeAwayDialogs({ run }: { run: OpenRun }): JSX.Element {
  return (
    <>
      <Dialog id="share-dialog" title="Share this history" isOpen={shareIsOpen}>
        <ShareForm run={run} />
      </Dialog>
      <Dialog id="test-dialog" title="Save a test" isOpen={testIsOpen}>
        <TestForm run={run} />
      </Dialog>
    </>
  );
}

/** Clears the status and the list of texts when the dialog opens or the run changes. */
function useFreshStart(run: OpenRun): void {
  useLayoutEffect(() => {
    said.value = "";
    needed.value = [];
  }, [run]);
}

function ShareForm({ run }: { run: OpenRun }): JSX.Element {
  useFreshStart(run);
  const [numbers, setNumbers] = useState(false);
  const texts = needed.value;
  return (
    <form
      class="take-away form"
      onSubmit={(event) => {
        event.preventDefault();
        void share(run, numbers, texts);
      }}
    >
      <p>
        Without values, every text is replaced by one of the same length; equal texts stay equal.
        The history still replays as before. Nothing is uploaded: the browser saves a file, or you
        copy a link.
      </p>
      <label class="check">
        <input
          type="checkbox"
          checked={numbers}
          onChange={({ currentTarget }) => setNumbers(currentTarget.checked)}
        />{" "}
        Replace numbers, too
      </label>
      <Decoded run={run} />
      <p role="status">{said.value}</p>
      {texts.length > 0 && (
        <ul>
          {texts.map((text) => (
            <li key={text}>
              <code>{text}</code>
            </li>
          ))}
        </ul>
      )}
      <section aria-label="Report">
        <h3>Report, a page that opens anywhere</h3>
        <p class="button-row">
          <button
            type="button"
            class="button"
            id="report-as-is"
            onClick={() => void makeReport(run, numbers, undefined)}
          >
            Report with values
          </button>
          <button
            type="button"
            class="button"
            id="report-redacted"
            onClick={() => void makeReport(run, numbers, texts)}
          >
            {texts.length > 0 ? "Keep these texts and report" : "Report without values"}
          </button>
        </p>
      </section>
      <LinkForm
        run={run}
        redacted={async () => {
          let history: Uint8Array | undefined;
          await tell(async () => {
            const done = await redacted(run, numbers, texts);
            history = done.history;
            return done.text;
          });
          return history;
        }}
        asIs={() => takenOf(run)}
      />
      <section aria-label="Drawing">
        <h3>Timeline with names and times, without values</h3>
        <p class="button-row">
          <button
            type="button"
            class="button"
            id="save-drawing"
            onClick={() =>
              void tell(() => {
                const drawing = drawingFile(run.model, {
                  isDark: theme() === "dark",
                  cuts: cutsGaps.peek(),
                  nowMs: isLiveRun(run) ? Date.now() : undefined,
                });
                save(`${nameOf(run)}.svg`, drawing, "image/svg+xml");
                return Promise.resolve("Saved the timeline with names and times, without values.");
              })}
          >
            Save timeline as SVG
          </button>
        </p>
      </section>
      <section aria-label="File">
        <h3>File, to open in this page or to replay</h3>
        <p class="button-row">
          <button type="button" class="button" onClick={() => (shareIsOpen.value = false)}>
            Cancel
          </button>
          <button
            type="button"
            class="button"
            id="save-as-is"
            onClick={() =>
              void tell(async () => {
                save(`${nameOf(run)}.json`, historyJson(await takenOf(run)));
                return "Saved with all values.";
              })}
          >
            Save with values
          </button>
          <button type="submit" class="button main" id="save-redacted">
            {texts.length > 0 ? "Keep these texts and save" : "Save without values"}
          </button>
        </p>
      </section>
    </form>
  );
}

function TestForm({ run }: { run: OpenRun }): JSX.Element {
  useFreshStart(run);
  const [runner, setRunner] = useState<TestRunner>("node");
  const ran = knownBranches(run)?.tree.value.nodes.filter(({ result }) => result !== undefined) ??
    [];
  const [branch, setBranch] = useState(() => knownBranches(run)?.chosen.peek() ?? 0);
  const of = ran.some(({ id }) => id === branch) ? branch : 0;
  const [workflows, setWorkflows] = useState(
    `./${run.code.value?.entry.split("/").at(-1) ?? "workflows.ts"}`,
  );
  return (
    <form
      class="take-away form"
      onSubmit={(event) => {
        event.preventDefault();
        void (of === 0
          ? makeTest(run, runner, workflows)
          : makeBranchTest(run, of, runner, workflows));
      }}
    >
      <p>
        {of === 0 && run.verdict.value.state === "replays"
          ? "Saves the history and a test that replays it. The test fails once your workflows no longer replay the history."
          : of === 0
          ? "Saves the history, cut after the divergence, and a test that fails until your workflows replay it."
          : "Saves the history and a test that runs this branch with your workflows. The test expects the result shown here."}
      </p>
      {ran.length > 0 && (
        <label>
          Run
          <select
            name="of"
            value={String(of)}
            onChange={({ currentTarget }) => setBranch(Number(currentTarget.value))}
          >
            <option value="0">the recorded run</option>
            {ran.map(({ id, title }) => (
              <option key={id} value={String(id)}>{`branch ${id}: ${title}`}</option>
            ))}
          </select>
        </label>
      )}
      <label>
        Test runner
        <select
          name="runner"
          value={runner}
          onChange={({ currentTarget }) => setRunner(currentTarget.value as TestRunner)}
        >
          <option value="node">node --test</option>
          <option value="vitest">vitest</option>
          <option value="deno">deno test</option>
        </select>
      </label>
      <label>
        Workflow module, relative to the test
        <input
          name="workflows"
          value={workflows}
          spellcheck={false}
          onInput={({ currentTarget }) => setWorkflows(currentTarget.value)}
        />
      </label>
      <Decoded run={run} />
      <p role="status">{said.value}</p>
      <p class="button-row">
        <button type="button" class="button" onClick={() => (testIsOpen.value = false)}>
          Cancel
        </button>
        <button type="submit" class="button main" id="save-test">Save test and history</button>
      </p>
    </form>
  );
}
