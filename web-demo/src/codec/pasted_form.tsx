// Form for a codec as a module. The text is pasted, dropped or chosen, then shown; it runs only
// after a second press.
import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { openedRuns, type OpenRun } from "../store/state.ts";
import { decodeRun } from "./decode_run.ts";
import { codecIsOpen, codecText } from "./mod.ts";
import "./codec.css";

const EXAMPLE = `export default {
  async encode(payloads) { … },
  async decode(payloads) { … },  // with the keys in this text
};`;
const LARGEST = 4 * 1024 * 1024;
/** Characters that are shown; a bundle can have millions. */
const SHOWN = 100_000;

/** The text that was shown to the user; only this text can run. */
const seen: Signal<string | undefined> = signal(undefined);
const said: Signal<string> = signal("");
const atWork: Signal<AbortController | undefined> = signal(undefined);
const all: Signal<boolean> = signal(false);

/** Opened runs with encoded values. */
const encodedRuns = () => openedRuns.value.filter(({ model }) => model.encodings.size > 0);

async function decode(run: OpenRun, text: string): Promise<void> {
  const stop = atWork.value = new AbortController();
  said.value = "Working…";
  try {
    const { runCodec } = await import("./sandbox/pasted_codec.ts");
    const running = await runCodec(text, stop.signal);
    const runs = all.peek() ? encodedRuns() : [run];
    let count = 0;
    try {
      for (const each of runs) count += await decodeRun(each, running.codec, running.isRunning);
      said.value = `${count} values decoded${runs.length === 1 ? "" : ` in ${runs.length} runs`}.`;
    } finally {
      running.stop();
    }
  } catch (error) {
    const { message, cause } = error as Error;
    said.value = cause instanceof Error ? cause.message : message;
  } finally {
    atWork.value = undefined;
  }
}

export function PastedCodecForm({ run }: { run: OpenRun }): JSX.Element {
  const text = codecText.value;
  const isSeen = seen.value === text && text !== "";
  return (
    <form
      class="take-away form"
      id="pasted-codec"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() === "") said.value = "Paste the text of the module first.";
        else if (!isSeen) {
          said.value = "";
          seen.value = text;
        } else void decode(run, text);
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        const [file] = event.dataTransfer?.files ?? [];
        if (file === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        void take(file);
      }}
    >
      <label>
        Codec module
        <textarea
          name="codec"
          rows={6}
          value={text}
          placeholder={EXAMPLE}
          spellcheck={false}
          autocomplete="off"
          aria-describedby="pasted-said"
          onInput={({ currentTarget }) => (codecText.value = currentTarget.value)}
        />
      </label>
      {isSeen ? <WhatWillRun text={text} /> : (
        <p class="soft">
          One TypeScript or JavaScript file with the keys. Drop it here, or{" "}
          <label class="link">
            choose a file<input
              type="file"
              class="unseen"
              accept=".ts,.mts,.js,.mjs"
              onChange={({ currentTarget }) => {
                const [file] = currentTarget.files ?? [];
                if (file !== undefined) void take(file);
                currentTarget.value = "";
              }}
            />
          </label>
          . Nothing runs yet.
        </p>
      )}
      <p role="status" id="pasted-said" class="wrap">{said.value}</p>
      <p class="button-row">
        {/* Two elements with keys: one that changed its type while it is pressed would submit. */}
        {atWork.value === undefined
          ? (
            <button key="run" type="submit" class="button main" id="run-codec">
              {isSeen ? "Run and decode" : "Show what will run"}
            </button>
          )
          : (
            <button
              key="stop"
              type="button"
              class="button risky"
              id="stop-codec"
              onClick={() => atWork.peek()?.abort()}
            >
              Stop
            </button>
          )}
        <button type="button" class="button" onClick={() => (codecIsOpen.value = false)}>
          Close
        </button>
      </p>
    </form>
  );
}

function WhatWillRun({ text }: { readonly text: string }): JSX.Element {
  const lines = text.split("\n");
  const others = encodedRuns().length;
  return (
    <>
      <p class="say">
        {lines.length} {lines.length === 1 ? "line" : "lines"}{" "}
        will run in a worker of a sandboxed frame, without access to the network, storage or this
        page. The code receives the encoded values, and the page shows what it returns.
      </p>
      <pre
        class="codec-first"
        tabIndex={0}
        aria-label="What will run"
      >{text.slice(0, SHOWN)}{text.length > SHOWN ? "…" : ""}</pre>
      {others > 1 && (
        <label class="check">
          <input
            type="checkbox"
            name="all"
            checked={all.value}
            onChange={({ currentTarget }) => (all.value = currentTarget.checked)}
          />
          Decode all {others} opened runs with encoded values
        </label>
      )}
    </>
  );
}

async function take(file: File): Promise<void> {
  if (file.size > LARGEST) {
    said.value = `${file.name} has ${Math.round(file.size / 2 ** 20)} MiB; the limit is ${
      LARGEST / 2 ** 20
    } MiB.`;
  } else codecText.value = await file.text();
}
