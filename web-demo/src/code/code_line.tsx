// One line of the code pane: number, hits, ink bar, text, and values at its right edge. Its height
// never changes.
import type { ComponentChildren, JSX } from "preact";
import { clock } from "../ui/time.ts";
import { Glyph } from "../ui/glyph.tsx";
import { isShallowSame, still } from "../ui/still.ts";
import type { FiberBadge, LineValue, ParkedHere } from "./facts.ts";
import type { Piece } from "./highlight.ts";
import { lineId } from "./line_id.ts";

/** The label at the line of the first divergence. */
export interface RedMark {
  readonly text: string;
  readonly more: string;
}

/** The room for a chip. Its title has the complete text. */
export type ChipRoom = "all" | "short" | "least";

export interface LineProps {
  readonly line: number;
  readonly pieces: readonly Piece[];
  readonly hits: number;
  readonly canRun: boolean;
  readonly parked: readonly ParkedHere[];
  /** Within the block of an await where the code waits. */
  readonly isInBlock: boolean;
  readonly values: readonly LineValue[];
  readonly red: RedMark | undefined;
  readonly isAdded: boolean;
  readonly breakpoint: "on" | "off" | undefined;
  readonly isActive: boolean;
  /** The values would cover the end of the text. */
  readonly isLong: boolean;
  readonly chip: ChipRoom;
  /** Start of the run: times are shown relative to it. */
  readonly startMs: number;
  readonly digits: number;
}

const KIND_GLYPHS: { readonly [kind: string]: "update" | "signal" | undefined } = {
  message: "update",
  signal: "signal",
};

export function Badge(
  { badge, quiet = false }: { badge: FiberBadge; quiet?: boolean },
): JSX.Element {
  return (
    <span class={quiet ? "fiber-badge quiet" : "fiber-badge"} title={badge.title}>
      {badge.text}
    </span>
  );
}

function ParkedChip(
  { parked, startMs, digits }: Pick<LineProps, "parked" | "startMs" | "digits">,
): JSX.Element {
  const [first, ...rest] = parked;
  const { badge, waitsFor, sinceMs } = first!;
  const since = sinceMs === undefined ? "" : `since ${clock(sinceMs - startMs, digits)}`;
  const title = parked.map(({ badge, waitsFor }) =>
    `${badge === undefined ? "" : `${badge.title} `}waits for ${waitsFor}`
  ).join(
    "\n",
  );
  return (
    <>
      <span class="parked-chip" title={`${title} ${since}`}>
        {badge === undefined ? <Glyph kind="park" size={10} /> : <Badge badge={badge} />}
        <span class="cut">
          <span class="wide-only">waits for</span> {waitsFor}
        </span>
        {since !== "" && <i class="wide-only">{since}</i>}
      </span>
      {rest.slice(0, 6).map((other) =>
        other.badge !== undefined && <Badge key={other.badge.title} badge={other.badge} />
      )}
      {rest.length > 6 && <span class="soft">+{rest.length - 6}</span>}
    </>
  );
}

function OneValue({ value }: { value: LineValue }): JSX.Element {
  const { kind, name, text, before, isOverwritten, badge } = value;
  if (kind === "changed") {
    return (
      <span class="value code-says">
        {"≠ "}
        <span class="cut">
          <i class="wide-only">{`${name}: `}</i>
          {text}
        </span>
      </span>
    );
  }
  const glyph = KIND_GLYPHS[kind];
  const named = name === "" ? "" : `${name}: `;
  if (isOverwritten) return <s>{named}{text}</s>;
  return (
    <>
      {badge !== undefined && <Badge badge={badge} quiet />}
      {glyph !== undefined && <Glyph kind={glyph} />}
      <span class={kind === "failure" || kind === "refused" ? "failed" : "value"}>
        {kind === "answer" ? "→ " : ""}
        {named}
        {before !== undefined && <s>{before}</s>}
        {before !== undefined && " "}
        {text}
      </span>
    </>
  );
}

/** One value, or a message with its result. The sheet shows all of them. */
function LineSays({ values }: { values: readonly LineValue[] }): JSX.Element {
  const [first] = values;
  const asked = first!.kind !== "answer"
    ? undefined
    : values.find(({ kind, eventId }) =>
      (kind === "message" || kind === "signal") && eventId === first!.eventId
    );
  if (asked === undefined) return <OneValue value={first!} />;
  return (
    <>
      <OneValue value={asked} />
      <span class="value">→ {first!.text}</span>
    </>
  );
}

function Note(props: LineProps): JSX.Element | null {
  const { red, parked, values, startMs, digits, line } = props;
  let inside: ComponentChildren;
  if (red !== undefined) {
    inside = (
      <span class="parked-chip red" title={`${red.text} ${red.more}`}>
        <Glyph kind="difference" size={10} />
        <span class="cut">{red.text}</span>
        <i class="wide-only">{red.more}</i>
      </span>
    );
  } else if (parked.length > 0) {
    const [first] = values;
    inside = (
      <>
        {first?.kind === "changed" && <OneValue value={first} />}
        <ParkedChip parked={parked} startMs={startMs} digits={digits} />
      </>
    );
  } else if (values.length > 0) {
    inside = <LineSays values={values} />;
  } else return null;
  const isButton = values.length > 0;
  return (
    <span role="gridcell" class="note">
      {isButton
        ? (
          <button
            type="button"
            class="note-inside"
            tabIndex={-1}
            data-values={line}
            aria-haspopup="dialog"
            title={titleOf(values)}
          >
            <span class="equals" aria-hidden="true">=</span>
            <span class="note-text">{inside}</span>
          </button>
        )
        : <span class="note-inside">{inside}</span>}
    </span>
  );
}

const titleOf = (values: readonly LineValue[]) =>
  values.slice(0, 6).map(({ name, text }) => name === "" ? text : `${name}: ${text}`).join("\n");

/** Whether two lists have equal entries. Values are not compared: their drawn text is. */
function areSame<T extends object>(before: readonly T[], now: readonly T[]): boolean {
  const isSame = (a: T, b: T) =>
    isShallowSame({ ...a, value: undefined }, { ...b, value: undefined });
  return before === now ||
    (before.length === now.length && before.every((one, i) => isSame(one, now[i]!)));
}

/** Facts of lines are built at each position. Most lines are drawn as before. */
function isSameLine(before: LineProps, now: LineProps): boolean {
  const { parked, values, red } = now;
  return isShallowSame({ ...before, parked, values, red }, now) && areSame(before.parked, parked) &&
    areSame(before.values, values) && before.red?.text === red?.text &&
    before.red?.more === red?.more;
}

export const CodeLine = still((props: LineProps): JSX.Element => {
  const {
    line,
    pieces,
    hits,
    canRun,
    parked,
    isInBlock,
    red,
    isAdded,
    breakpoint,
    isActive,
    isLong,
    chip,
  } = props;
  const looks = [
    "code-line",
    hits > 0 ? "ran" : canRun ? "can-run" : "",
    parked.length > 0 ? "at" : isInBlock ? "in-block" : "",
    red === undefined ? "" : "red",
    isAdded ? "added" : "",
    isActive ? "active" : "",
    isLong ? "long" : "",
    chip === "all" || (red === undefined && parked.length === 0) ? "" : `chip-${chip}`,
  ];
  const times = hits === 0 ? "" : hits > 9999 ? "9k+×" : `${hits}×`;
  return (
    <div
      class={looks.filter((look) => look !== "").join(" ")}
      role="row"
      id={lineId(line)}
      aria-rowindex={line}
      data-line={line}
    >
      <span class="gutter" role="rowheader">
        <button
          type="button"
          class="line-number"
          tabIndex={-1}
          data-breakpoint={line}
          aria-pressed={breakpoint !== undefined}
          aria-label={breakpoint === undefined
            ? `Line ${line}, set a breakpoint`
            : `Line ${line}, has a breakpoint`}
        >
          {breakpoint !== undefined && <span class={`breakpoint-dot ${breakpoint}`} />}
          {line}
        </button>
        <span
          class="hits"
          title={hits === 0 ? undefined : `Ran ${hits} ${hits === 1 ? "time" : "times"} up to here`}
        >
          {times}
        </span>
        <i class="ink" />
      </span>
      <span role="gridcell" class="source">
        {pieces.map(({ look, text }, i) =>
          look === "" ? text : <span key={i} class={`t-${look}`}>{text}</span>
        )}
        {pieces.length === 0 && " "}
      </span>
      <Note {...props} />
    </div>
  );
}, isSameLine);
