// The first section of the inspector: why the run waits or how it ended, and the messages that it
// accepts now.
import type { JSX } from "preact";
import type { ConditionFacts } from "temporalex/debug";
import { nextResuming } from "./next_resuming.ts";
import { legalNow } from "./legal_now.ts";
import { digitsOf } from "../../../ts/run_view/rows.ts";
import { lineOfValue } from "../../../ts/run_view/value_text.ts";
import { goTo, type OpenRun, position, shownView } from "../store/state.ts";
import { Glyph, glyphTitle } from "../ui/glyph.tsx";
import { clock, lasting } from "../ui/time.ts";
import { waitingFibers } from "../code/session_facts.ts";
import { describeCondition } from "../../../ts/run_view/condition_text.ts";
import {
  type Said,
  type Untaken,
  untakenText,
  type Why,
  whyText,
} from "../../../ts/run_view/why.ts";

export const Sentence = ({ said }: { said: Said }): JSX.Element => (
  <>{said.map((piece, i) => typeof piece === "string" ? piece : <b key={i}>{piece.name}</b>)}</>
);

/**
 * The next event of the history that resumes the code: a message, or the end of something that it
 * waits for.
 */
function nextThing(run: OpenRun): { readonly text: string; readonly eventId: number } | undefined {
  const { model } = run;
  const at = position.value;
  const found = nextResuming(model, shownView.value?.open ?? [], at);
  if (found === undefined) return undefined;
  const { item, eventId, ends } = found;
  const [now, then] = [model.lines[at - 1]?.timeMs, model.lines[eventId - 1]?.timeMs];
  const after = now === undefined || then === undefined || then <= now
    ? "immediately"
    : `after ${lasting(then - now)}`;
  const name = item.kind === "run" ? item.name : glyphTitle(item.kind, item.name);
  const ending = !ends
    ? ""
    : item.kind === "timer"
    ? " fires"
    : ` ${ENDINGS[item.status] ?? "ends"}`;
  return { text: `Next in the history, ${after}: ${name}${ending}`, eventId };
}

const ENDINGS: { readonly [status: string]: string } = {
  completed: "completes",
  failed: "fails",
  timedOut: "times out",
  canceled: "is canceled",
  terminated: "is terminated",
};

export function WhySection({ run }: { run: OpenRun }): JSX.Element | null {
  const shown = shownView.value;
  if (shown === undefined) return null;
  const next = nextThing(run);
  const conditions = run.session.value?.code?.conditions(shown.position) ?? [];
  const plain = whyText(shown, next?.text ?? "", conditions);
  const known = plain.fibers.length > 1 ? waitingFibers(run, shown) : [];
  const why = known.length > 0 ? { ...plain, fibers: known } : plain;
  const title = known.length === 1 ? "Why does it wait?" : why.title;
  const start = run.model.lines[0]?.timeMs ?? 0;
  const { outcome } = shown;
  return (
    <section class={`section why ${why.look.replace(" ", "-")}`} id="why">
      <h3>
        {title}
        {why.fibers.length > 1 && <span>{why.fibers.length} fibers</span>}
      </h3>
      {why.fibers.length > 1 && <Fibers why={why} start={start} digits={digitsOf(run.model)} />}
      <p class="say">
        <Sentence said={why.said} />
      </p>
      {why.look === "waits" && <Conditions facts={conditions} />}
      {why.untaken.slice(0, MOST).map((each) => <Untaking key={each.name} untaken={each} />)}
      {why.look === "ended" && outcome !== undefined && "value" in outcome && (
        <p class="say mono wrap">{lineOfValue(outcome.value, 200)}</p>
      )}
      {next !== undefined && why.look === "waits" && (
        <p class="second next-thing">
          {next.text},{" "}
          <button type="button" class="link-button" onClick={() => goTo(next.eventId)}>
            event {next.eventId}
          </button>.
        </p>
      )}
      {why.legal.length > 0 && <Legal run={run} why={why} />}
    </section>
  );
}

/** The predicates of open conditions, with the values that they read. */
function Conditions({ facts }: { facts: readonly ConditionFacts[] }): JSX.Element {
  const sentences = facts.slice(0, MOST).flatMap(describeCondition);
  return (
    <>
      {sentences.map((said, i) => (
        <p key={i} class="say wrap condition">
          <Sentence said={said} />
        </p>
      ))}
    </>
  );
}

function Untaking({ untaken }: { untaken: Untaken }): JSX.Element {
  const { before, after } = untakenText(untaken);
  const { eventId } = untaken;
  const space = after.indexOf(" ", 1);
  return (
    <p class="say untaken">
      <Sentence said={before} />
      <span class="together">
        <button type="button" class="link-button" onClick={() => goTo(eventId)}>
          event {eventId}
        </button>
        {after.slice(0, space)}
      </span>
      {after.slice(space)}
    </p>
  );
}

function Fibers({ why, start, digits }: { why: Why; start: number; digits: number }): JSX.Element {
  return (
    <ul class="fibers">
      {why.fibers.map(({ badge, fiber, waitsFor, sinceMs }, i) => (
        <li key={i} title={`${fiber} waits for ${waitsFor}`}>
          <span class="fiber-badge">{badge}</span>
          <span class="cut grow">{waitsFor}</span>
          {sinceMs !== undefined && <span class="soft">{clock(sinceMs - start, digits)}</span>}
        </li>
      ))}
    </ul>
  );
}

/** Messages that are shown; more are counted. */
const MOST = 12;

function Legal({ run, why }: { run: OpenRun; why: Why }): JSX.Element {
  const send = legalNow.value;
  return (
    <ul class="chips" aria-label="Messages it accepts now">
      {why.legal.slice(0, MOST).map(({ kind, name }) => (
        <li key={`${kind} ${name}`}>
          {send === undefined
            ? (
              <span class="legal" title={`the workflow accepts ${kind} ${name} here`}>
                <Glyph kind={kind} label={kind} />
                {name}
              </span>
            )
            : (
              <button
                type="button"
                class="legal"
                title={`Send ${name} in a what-if branch from here`}
                onClick={() => send(run, kind, name)}
              >
                <Glyph kind={kind} label={kind} />
                {name}
              </button>
            )}
        </li>
      ))}
      {why.legal.length > MOST && <li class="soft">{why.legal.length - MOST} more</li>}
    </ul>
  );
}
