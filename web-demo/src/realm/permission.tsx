// Asks before code runs that is not part of the page, and shows its files. Also asks for the entry
// file if several files have the workflow.
import { computed, type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { currentRun, type OpenRun } from "../store/state.ts";
import { Dialog } from "../ui/dialog.tsx";
import type { CodeFile, CodeSet } from "../store/code_set.ts";
import { permit } from "./permission.ts";
import "./permission.css";
import { entryQuestion, stopRunning } from "./run_code.ts";

const FROM: { readonly [origin in CodeSet["origin"]]: string } = {
  sample: "The code is part of this page.",
  folder: "The code is from a folder that you opened or dropped.",
  files: "The code is from files that you opened or dropped.",
  paste: "You pasted the code.",
  bundle: "The code is from a bundle that you dropped.",
  link: "The code is from a link that you followed.",
  "command line": "The code is from the command line.",
};
/** Lines that are shown of each file. */
const FIRST_LINES = 24;
/** Files that are listed; packages are listed by name. */
const LISTED = 50;

const waiting = computed((): OpenRun | undefined =>
  currentRun.value?.verdict.value.state === "waiting for permission" ? currentRun.value : undefined
);
const seen: Signal<boolean> = signal(false);
const replaying = computed((): OpenRun | undefined =>
  currentRun.value?.verdict.value.state === "replaying" ? currentRun.value : undefined
);
/** The Stop button is shown after this delay; most replays take less. */
const SLOW_MS = 700;

/** The bar of a run whose code is not permitted yet, and its dialog. */
export function Permission(): JSX.Element {
  const run = waiting.value;
  return (
    <>
      {run !== undefined && (
        <div class="permission" id="permission">
          <p>
            <b>This code has not run yet.</b> {FROM[run.code.value!.origin]}{" "}
            The code runs in this tab, isolated from the page and the network.
          </p>
          <button type="button" class="button main" onClick={() => (seen.value = true)}>
            Show what will run
          </button>
        </div>
      )}
      <Dialog id="permit" title="Run this code?" isOpen={seen}>
        {run !== undefined && <WhatWillRun run={run} code={run.code.value!} />}
      </Dialog>
      <EntryQuestion />
      <Running />
    </>
  );
}

/** Shown while code runs for long, with a Stop button. */
function Running(): JSX.Element | null {
  const run = replaying.value;
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    setSlow(false);
    if (run === undefined) return;
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, [run]);
  if (run === undefined || !isSlow) return null;
  return (
    <aside class="permission floating" id="running" aria-label="Running code">
      <p>The code is still running.</p>
      <button type="button" class="button risky" onClick={() => void stopRunning(run)}>Stop</button>
    </aside>
  );
}

function WhatWillRun(
  { run, code }: { readonly run: OpenRun; readonly code: CodeSet },
): JSX.Element {
  const own = code.files.filter(({ path }) => !path.includes("node_modules/"));
  const packages = packagesOf(code.files);
  return (
    <>
      <p class="say">
        {FROM[code.origin]} To replay <b>{run.model.facts.type}</b>{" "}
        it runs in a worker of a sandboxed frame, without access to the network, storage or this
        page.
      </p>
      <ul class="will-run">
        {own.slice(0, LISTED).map(({ path, text }) => (
          <li key={path}>
            <details open={own.length === 1}>
              <summary>
                <code>{path}</code> <small>{size(text)}</small>
              </summary>
              <pre tabIndex={0} aria-label={`First lines of ${path}`}>{first(text)}</pre>
            </details>
          </li>
        ))}
        {own.length > LISTED && <li>and {own.length - LISTED} more files</li>}
        {packages.map(({ name, files, text }) => (
          <li key={name}>
            package <code>{name}</code> <small>{files} files, {text}</small>
          </li>
        ))}
      </ul>
      <p class="code-buttons">
        <button
          type="button"
          class="button main"
          onClick={() => {
            seen.value = false;
            permit(code);
          }}
        >
          Run code
        </button>
        <button type="button" class="button" onClick={() => (seen.value = false)}>Not now</button>
      </p>
    </>
  );
}

function EntryQuestion(): JSX.Element {
  const question = entryQuestion.value;
  const isOpen = {
    get value() {
      return question !== undefined;
    },
    set value(open: boolean) {
      if (!open) entryQuestion.value = undefined;
    },
  } as Signal<boolean>;
  return (
    <Dialog id="entry" title="Choose the workflow file" isOpen={isOpen}>
      {question !== undefined && (
        <>
          <p class="say">
            {question.candidates.length} files have a workflow{" "}
            <b>{question.run.model.facts.type}</b>. Choose the file that your worker loads.
          </p>
          <ul class="entries">
            {question.candidates.map((path) => (
              <li key={path}>
                <button type="button" class="button" onClick={() => question.choose(path)}>
                  {path}
                </button>
              </li>
            ))}
          </ul>
          <p class="code-buttons">
            <button type="button" class="button" onClick={() => (isOpen.value = false)}>
              Cancel
            </button>
          </p>
        </>
      )}
    </Dialog>
  );
}

const first = (text: string) =>
  text.split("\n", FIRST_LINES).map((line) => line.slice(0, 200)).join("\n");
const kib = (characters: number) =>
  characters < 1024 ? `${characters} B` : `${(characters / 1024).toFixed(1)} KiB`;
const size = (text: string) => `${text.split("\n").length} lines, ${kib(text.length)}`;

function packagesOf(
  files: readonly CodeFile[],
): { readonly name: string; readonly files: number; readonly text: string }[] {
  const packages = new Map<string, { files: number; characters: number }>();
  for (const { path, text } of files) {
    const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
    if (name === undefined) continue;
    const found = packages.get(name) ?? { files: 0, characters: 0 };
    packages.set(name, { files: found.files + 1, characters: found.characters + text.length });
  }
  return [...packages].map(([name, { files, characters }]) => ({
    name,
    files,
    text: kib(characters),
  }));
}
