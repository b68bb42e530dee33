// The first screen: a headline, buttons to open a history, and a sample that plays with four
// captions. Any key or click leaves it and opens the sample.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { CodePane } from "../code/mod.ts";
import { Timeline } from "../timeline/mod.ts";
import { Transport } from "../transport/mod.ts";
import { Glyph, type GlyphKind, KIND_NAMES } from "../ui/glyph.tsx";
import { captionAt, CAPTIONS } from "./captions.ts";
import { before } from "../store/keys.ts";
import { endIntro, startIntro } from "../open/first.ts";
import "./first_screen.css";
import { FileButton, PasteButton } from "./open_buttons.tsx";
import { length, type OpenRun, playing, position } from "../store/state.ts";

/** Ids and labels of the samples on this screen. */
const SHOWN: readonly (readonly [string, string])[] = [
  ["shopping_cart", "Cart"],
  ["shopping_cart_diverged", "Cart, diverged"],
  ["inventory", "Inventory"],
  ["batch_process", "Batch"],
  ["event_collector", "Collector"],
];

const KINDS: readonly GlyphKind[] = [
  "activity",
  "timer",
  "signal",
  "update",
  "child",
  "query",
  "marker",
  "task",
];

export function FirstScreen({ run }: { run: OpenRun | undefined }): JSX.Element {
  useEffect(() => {
    before.run = endIntro;
    return () => (before.run = undefined);
  }, []);
  return (
    <div class="first">
      <div class="hello">
        <div class="grow">
          <h1>Any run, step by step. Forward and back.</h1>
          <p>
            Drop a workflow history from any SDK anywhere on this page. It is read in this tab and
            never uploaded.
          </p>
        </div>
        <p class="button-row">
          <FileButton class="button main large" />
          <PasteButton class="button large" />
          <code class="command">temporalex debug order.json</code>
        </p>
      </div>
      <section class="stage" aria-label="A sample">
        {run !== undefined && <Stage run={run} />}
      </section>
    </div>
  );
}

function Stage({ run }: { run: OpenRun }): JSX.Element {
  return (
    <>
      <div class="stage-head">
        <h2>{playing.value ? "A sample is playing" : "A sample"}</h2>
        <span class="soft cut">{run.model.facts.type}, {length.value} events</span>
        <span class="grow" />
        <div class="segments" role="group" aria-label="Samples">
          {SHOWN.map(([id, name]) => (
            <button
              type="button"
              key={id}
              aria-pressed={run.key === `sample:${id}`}
              onClick={() => void startIntro(id)}
            >
              {name}
            </button>
          ))}
        </div>
        <button type="button" class="button small" id="open-in-full" onClick={endIntro}>
          Open this sample
        </button>
      </div>
      {/* The press stops playing, so that the sample does not move under the pointer; the click opens it. */}
      <div class="stage-moves" onPointerDown={() => (playing.value = false)} onClick={endIntro}>
        <Timeline run={run} />
        <Transport run={run} isShort />
      </div>
      <div class="stage-work">
        <div class="column">
          <CodePane run={run} />
        </div>
        <div class="column captions">
          <Caption />
          <section class="section">
            <h3>Colors and shapes</h3>
            <ul class="legend">
              {KINDS.map((kind) => (
                <li key={kind}>
                  <Glyph kind={kind} /> {KIND_NAMES[kind]}
                </li>
              ))}
            </ul>
          </section>
        </div>
      </div>
    </>
  );
}

/** The caption for the position. All are in the page, so that the height is that of the longest. */
function Caption(): JSX.Element {
  const at = captionAt(position.value, length.value);
  return (
    <section class="section caption" aria-live="off">
      <h3>{at + 1} of {CAPTIONS.length}</h3>
      {CAPTIONS.map(([title, text], i) => (
        <p class="say" key={title} hidden={i !== at}>
          <b>{title}</b> {text}
        </p>
      ))}
      <p class="soft">
        <kbd>→</kbd> next event, <kbd>?</kbd> all keys
      </p>
    </section>
  );
}
