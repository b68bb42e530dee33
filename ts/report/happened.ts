// The list of items: one expandable row per item, with collapsed workflow tasks, and all events
// with all fields.
import type { RunItem, RunModel } from "../debug/run/types.ts";
import { COLOR_OF, type GlyphKind, KIND_NAMES } from "../run_view/glyphs.ts";
import { shapeOf } from "./drawing.ts";
import { type Html, markup, type Part } from "./html.ts";
import { digitsOf, listRows, type Row, rowText } from "../run_view/rows.ts";
import { clock, count, lasting } from "../run_view/time.ts";
import { cutTo } from "../run_view/timeline/texts.ts";
import type { Room } from "./values_of.ts";
import { endedBadly, innermost, STATUS } from "../run_view/words.ts";

/** Maximum length of a detail, and of a name, in a row. */
const MOST_LETTERS = 160;
/** Limit for attempts of one activity, and for events of one item. */
const MOST_OF_ONE = 20;

/** Returns the glyph of a kind. The name of the kind is next to it. */
export const sign = (kind: GlyphKind): Html =>
  markup`<svg class="g k-${COLOR_OF[kind]}" viewBox="0 0 16 16" aria-hidden="true">${
    shapeOf(kind)
  }</svg>`;

/** The events to list. */
export interface Listed {
  readonly model: RunModel;
  /** Maximum number of events: the first half and the last half of them. */
  readonly most: number;
  /** The event at which code and history diverge; 0: no divergence. */
  readonly problem: number;
  readonly room: Room;
}

/** Returns the omitted range: events after `first` up to `last`. */
function gapOf({ model, most }: Listed): { readonly first: number; readonly last: number } {
  const all = model.lines.length;
  return all <= most
    ? { first: all, last: all }
    : { first: Math.ceil(most / 2), last: all - Math.floor(most / 2) };
}

/** Describes the omitted events in a sentence; "" without any. */
export function leftOutText(listed: Listed): string {
  const { first, last } = gapOf(listed);
  const all = listed.model.lines.length;
  return last === first
    ? ""
    : `The list has the first ${count(first)} and the last ${count(all - last)} of ${
      count(all)
    } events; ${
      count(last - first)
    } between them are left out. The timeline and the figures are of all.`;
}

/** Returns the list of items and all events. */
export function happenedOf(listed: Listed): Html {
  const { model } = listed;
  const { first, last } = gapOf(listed);
  const rows = listRows(model, { hidden: new Set(), isUnfolded: false, found: undefined });
  const text = leftOutText(listed);
  const gap = markup`<p class="gap">${count(last - first)} events are left out here</p>`;
  const isListed = (from: number) => from <= first || from > last;
  const shown: Part[] = [];
  let hasGap = false;
  for (const group of folded(rows.filter(({ from }) => isListed(from)))) {
    if (!hasGap && last > first && group[0]!.from > last) {
      shown.push(gap);
      hasGap = true;
    }
    shown.push(group[0]!.is === "task" ? tasksRow(listed, group) : itemRow(listed, group[0]!));
  }
  const events = model.lines.filter(({ eventId }) => isListed(eventId));
  return markup`${text !== "" && markup`<p class="note">${text}</p>`}<div class="${
    rowsClass(shown.length)
  }">${shown}</div>
<details class="all"><summary>All ${count(events.length)} events${
    last > first && " that are listed"
  }, with all that they say</summary><div class="${rowsClass(events.length)}">${
    events.map((
      { eventId },
      i,
    ) => [
      i > 0 && last > first && events[i - 1]!.eventId === first && gap,
      eventRow(listed, eventId),
    ])
  }</div></details>`;
}

/** Returns the class of a list. Browsers skip the layout of invisible rows in long lists. */
const rowsClass = (rows: number): string => rows > 300 ? "rows many" : "rows";

/** Groups adjacent workflow tasks into one row. */
function folded(rows: readonly Row[]): Row[][] {
  const groups: Row[][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (row.is === "task" && last?.[0]?.is === "task") last.push(row);
    else groups.push([row]);
  }
  return groups;
}

function tasksRow(listed: Listed, rows: readonly Row[]): Html {
  const [first, last] = [rows[0]!, rows.at(-1)!];
  const names = [first, last].map((row) => row.is === "task" ? count(row.number) : "");
  const name = rows.length === 1 ? `task ${names[0]}` : `tasks ${names[0]} to ${names[1]}`;
  const items = rows.flatMap((row) => row.is === "task" ? [row.item] : []);
  const isBad = items.some(({ status }) => status === "failed" || status === "timedOut");
  return markup`<details class="${
    isBad ? "row task bad" : "row task"
  }"><summary><span class="w">${name}${isBad && ", failed"}</span></summary><div class="body">${
    items.slice(0, MOST_OF_ONE).map((item) => [failureOf(listed, item), eventsOf(listed, item)])
  }${
    items.length > MOST_OF_ONE &&
    markup`<p class="soft">and ${count(items.length - MOST_OF_ONE)} more</p>`
  }</div></details>
`;
}

function timeOf({ model }: Listed, eventId: number, digits = digitsOf(model)): Part {
  const [start, at] = [model.lines[0]?.timeMs, model.lines[eventId - 1]?.timeMs];
  return start !== undefined && at !== undefined &&
    markup`<time datetime="${new Date(at).toISOString()}">${clock(at - start, digits)}</time>`;
}

function itemRow(listed: Listed, row: Row): Html {
  const { model, problem } = listed;
  const { kind, name, detail } = rowText(model, row);
  const item = row.is === "event" ? undefined : row.item;
  const isHere = problem > 0 && item?.eventIds.includes(problem);
  return markup`<details class="${isHere ? "row bad" : "row"}"><summary>${
    sign(isHere ? "difference" : kind)
  }<span class="w"><span class="unseen">${KIND_NAMES[kind]} </span><b>${
    cutTo(name, MOST_LETTERS)
  }</b> <span class="${item !== undefined && endedBadly(item) ? "d failed" : "d"}">${
    cutTo(detail, MOST_LETTERS)
  }</span></span>${timeOf(listed, row.from)}</summary><div class="body">${
    item !== undefined && bodyOf(listed, item)
  }</div></details>
`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function bodyOf(listed: Listed, item: RunItem): Part {
  const { model, room } = listed;
  const input = model.inputOf(item);
  const output = model.outputOf(item);
  const hasOutput = output !== undefined && !("value" in output && output.value === undefined);
  const took = item.startMs !== undefined && item.endMs !== undefined && item.endMs > item.startMs;
  return [
    item.key !== "" && item.kind !== "run" && item.key !== item.name &&
    markup`<p class="soft">${KIND_NAMES[item.kind]} ${cutTo(item.key, MOST_LETTERS)}</p>`,
    item.closedBy === undefined ? markup`<p>It is open at the end of the history.</p>` : took &&
      markup`<p class="soft">${capital(STATUS[item.status])} in ${
        lasting(item.endMs! - item.startMs!)
      }</p>`,
    input.length > 0 &&
    markup`<p class="label">${item.kind === "marker" ? "Details" : "Input"}</p>${
      input.map((each) => room.shown(each))
    }`,
    hasOutput && markup`<p class="label">Result</p>${room.shown(output)}`,
    failureOf(listed, item),
    attemptsOf(listed, item),
    eventsOf(listed, item),
  ];
}

function failureOf({ model, room }: Listed, item: RunItem): Part {
  const failure = model.failureOf(item);
  return failure !== undefined && markup`<p class="label">Failure</p>${room.failure(failure)}`;
}

function attemptsOf({ model }: Listed, item: RunItem): Part {
  const attempts = item.attempt > 1 ? model.attemptsOf(item).slice(-MOST_OF_ONE) : [];
  if (attempts.length === 0) return undefined;
  const start = model.facts.startMs ?? 0;
  return markup`<p class="label">Attempts</p><table><thead><tr><th scope="col">Attempt</th><th scope="col">Started</th><th scope="col">Back-off before</th><th scope="col">Ended with</th></tr></thead><tbody>${
    attempts.map(({ number, startMs, about, backoffMs, failure }) => {
      const why = failure && innermost(failure);
      const began = startMs === undefined
        ? "not recorded"
        : `${about && number > 1 ? "about " : ""}${clock(startMs - start, digitsOf(model))}`;
      const end = number < item.attempt
        ? "not recorded"
        : item.status === "completed"
        ? "its result"
        : STATUS[item.status];
      return markup`<tr><td>${count(number)}</td><td>${began}</td><td>${
        backoffMs === 0 ? "none" : lasting(backoffMs)
      }</td><td>${
        why === undefined ? end : cutTo(`${why.type} ${why.message}`, MOST_LETTERS)
      }</td></tr>`;
    })
  }</tbody></table><p class="soft">History keeps the last try alone; earlier ones are placed by the retry policy.</p>`;
}

function eventsOf({ model }: Listed, item: RunItem): Html {
  const start = model.facts.startMs ?? 0;
  const ids = item.eventIds.slice(0, MOST_OF_ONE);
  const more = item.eventIds.length - ids.length;
  const texts = ids.map((id) => {
    const { type, timeMs } = model.lines[id - 1]!;
    return `event ${count(id)}  ${type}${
      timeMs === undefined ? "" : `  ${clock(timeMs - start, 3)}`
    }`;
  });
  return markup`<p class="events">${texts.join("\n")}${
    more > 0 && `\nand ${count(more)} more`
  }</p>`;
}

function eventRow(listed: Listed, id: number): Html {
  const { model, problem, room } = listed;
  const { type, summary } = model.lines[id - 1]!;
  return markup`<details class="${
    id === problem ? "row ev bad" : "row ev"
  }"><summary><span class="w">${id} <b>${type}</b> ${cutTo(summary, MOST_LETTERS)}</span>${
    timeOf(listed, id)
  }</summary>${room.value(model.eventOf(id))}</details>
`;
}
