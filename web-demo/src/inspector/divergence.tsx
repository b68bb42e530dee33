// The divergence: sentence, likely edit, fields that differ, and repair.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { currentRun, goTo, openedRuns, type OpenRun, position, showRun } from "../store/state.ts";
import { divergenceOf, findParting } from "../code/parting.ts";
import { canPutIn, putIn } from "../code/repairing.ts";
import { HighlightedFile } from "../code/highlight.ts";
import { DifferencesTable } from "./differences_table.tsx";
import { CONFIDENCE, fieldDifferences } from "../../../ts/run_view/words_of_parting.ts";

/** Shown while the position is at or after the divergence. */
export function DivergenceSections({ run }: { run: OpenRun }): JSX.Element | null {
  const parting = findParting(run);
  if (parting === undefined || position.value < parting.position) return null;
  const problem = run.session.value!.problem!;
  const divergence = divergenceOf(run);
  const title = parting.isDivergence ? "Divergence" : "The code fails here";
  return (
    <>
      <section class="section failed-here" id="where-they-part">
        <h3>
          {title} {position.value > parting.position && (
            <span>
              <button type="button" class="link-button" onClick={() => goTo(parting.position)}>
                event {parting.position}
              </button>
            </span>
          )}
        </h3>
        <p class="say wrap">{divergence?.sentence ?? problem.message}</p>
        {problem.stack !== "" && !parting.isDivergence && (
          <pre class="well mono wrap" id="thrown-at" tabIndex={0}>{problem.stack}</pre>
        )}
        {divergence !== undefined && divergence.edit.text !== "" && (
          <p class="second">
            {!has(divergence.sentence, divergence.edit.text) &&
              `${capital(divergence.edit.text)}. `}
            {CONFIDENCE[divergence.edit.confidence]}
          </p>
        )}
      </section>
      <Differences run={run} />
      {divergence?.repair !== undefined && <RepairSection run={run} />}
      <Sharing run={run} />
    </>
  );
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const has = (sentence: string, text: string) => sentence.toLowerCase().includes(text.toLowerCase());

function Differences({ run }: { run: OpenRun }): JSX.Element | null {
  const rows = fieldDifferences(run.session.value!.problem!);
  if (rows.length === 0) return null;
  return (
    <section class="section" id="what-differs">
      <h3>What differs</h3>
      <DifferencesTable rows={rows} />
    </section>
  );
}

function RepairSection({ run }: { run: OpenRun }): JSX.Element {
  const divergence = divergenceOf(run)!;
  const { text, code, isReplayed = false } = divergence.repair!;
  const [copied, setCopied] = useState(false);
  const can = canPutIn(run, divergence);
  const file = new HighlightedFile(code, ["export const patched = 0;"]);
  return (
    <section class="section" id="repair">
      <h3>Repair</h3>
      <p class="say">{text}</p>
      {code !== "" && (
        <pre class="well repair ran" tabIndex={0}>
          {file.lines.map((line, i) => (
            <span key={i}>
              {file.pieces(i + 1).map((piece, j) => (
                <span key={j} class={piece.text === "patched" ? "t-marker" : piece.look === "" ? undefined : `t-${piece.look}`}>{piece.text}</span>
              ))}
              {line === file.lines.at(-1) ? "" : "\n"}
            </span>
          ))}
        </pre>
      )}
      {code !== "" && !isReplayed && (
        <p class="second">
          This repair is a guess: the history has not been replayed with it.{can &&
            " Apply it to replay."}
        </p>
      )}
      {code !== "" && (
        <div class="chips">
          {can && (
            <button
              type="button"
              class="button small main"
              onClick={() => putIn(run, divergence)}
            >
              Apply repair
            </button>
          )}
          <button
            type="button"
            class="button small"
            onClick={() => void navigator.clipboard.writeText(code).then(() => setCopied(true))}
          >
            {copied ? "Copied" : "Copy"}
          </button>
        </div>
      )}
    </section>
  );
}

/** Opened runs with the same divergence. */
function Sharing({ run }: { run: OpenRun }): JSX.Element | null {
  const key = divergenceOf(run)?.key;
  if (key === undefined) return null;
  const others = openedRuns.value.filter((one) =>
    one !== currentRun.value && divergenceOf(one)?.key === key
  );
  if (others.length === 0) return null;
  return (
    <section class="section" id="sharing">
      <h3>
        Runs with this divergence <span>{others.length}</span>
      </h3>
      <ul class="told">
        {others.map((one) => (
          <li key={one.key}>
            <button
              type="button"
              class="mono"
              onClick={() => showRun(one, findParting(one)?.position ?? 1)}
            >
              {one.model.facts.id || one.name}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
