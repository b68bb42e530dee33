// The verdict of the replay in the top bar. Its box keeps its size, so that nothing moves.
import type { JSX } from "preact";
import { Glyph } from "../ui/glyph.tsx";
import type { NotInHistory } from "temporalex/debug";
import { notInHistoryText } from "../../../ts/debug/not_in_history_text.ts";
import { countChanges, goTo, type OpenRun, type Verdict } from "../store/state.ts";

interface Said {
  readonly look: string;
  readonly glyph?: "replays" | "difference";
  readonly text: string;
  readonly more?: string;
  readonly at?: number;
}

const REPLAYS: Said = { look: "ok", glyph: "replays", text: "Replays", more: "to the end" };

/** The replay passes, but the code makes commands that the history does not have. */
function saidOfExtra(extra: readonly NotInHistory[]): Said {
  const more = `${extra[0]!.isLast ? "then" : "but"} ${notInHistoryText(extra)}`;
  return { look: "warn", glyph: "difference", text: "Replays", more, at: extra[0]!.startedEventId };
}

function said(
  verdict: Verdict,
  changed: OpenRun["changed"]["value"],
  extra: readonly NotInHistory[],
): Said {
  switch (verdict.state) {
    case "none":
      return { look: "plain", text: "No code" };
    case "waiting for permission":
      return { look: "plain", text: "Not run yet" };
    case "replaying":
      if (verdict.said === "replays") return REPLAYS;
      // The place is known once the lines have been replayed.
      if (verdict.said === "diverges") {
        return { look: "bad", glyph: "difference", text: "Diverges" };
      }
      return verdict.before === undefined
        ? { look: "plain", text: "Replaying" }
        : said(verdict.before, changed, extra);
    case "replays":
      if (extra.length > 0) return saidOfExtra(extra);
      return changed.length === 0 ? REPLAYS : {
        ...REPLAYS,
        more: countChanges(changed) === 1
          ? "1 value differs"
          : `${countChanges(changed)} values differ`,
        at: changed[0]!.eventId,
      };
    case "diverges":
    case "fails":
      return {
        look: "bad",
        glyph: "difference",
        text: verdict.state === "diverges" ? "Diverges" : "Fails",
        more: `at event ${verdict.problem.position}`,
        at: verdict.problem.position,
      };
    case "no replay":
      return { look: "plain", text: "Not replayed", more: verdict.message };
    case "not parsed":
      return { look: "plain", text: `Not parsed, line ${verdict.line}` };
  }
}

/** `data-run` has the key of the run, so that tests never read the verdict of another run. */
export function VerdictChip({ run }: { run: OpenRun }): JSX.Element {
  const verdict = run.verdict.value;
  const extra = run.session.value?.notInHistory ?? [];
  const { look, glyph, text, more, at } = said(verdict, run.changed.value, extra);
  const inside = (
    <>
      {glyph !== undefined && <Glyph kind={glyph} />}
      <span class="cut">
        {text} {more !== undefined && <small>{more}</small>}
      </span>
      {verdict.state === "replaying" && verdict.said === undefined && (
        <span class="working" role="img" aria-label="replaying" />
      )}
    </>
  );
  const title = more === undefined ? text : `${text} ${more}`;
  return at === undefined
    ? (
      <p class={`verdict ${look}`} id="verdict" data-run={run.key} role="status" title={title}>
        {inside}
      </p>
    )
    : (
      <button
        type="button"
        class={`verdict ${look}`}
        id="verdict"
        data-run={run.key}
        title={`${title}: go there${look === "bad" ? " (d)" : ""}`}
        onClick={() => goTo(at)}
      >
        {inside}
      </button>
    );
}
