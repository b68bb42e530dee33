// Event groups in the list: a chip on each item of a group, and the select that hides other items.
import { type EventGroup, eventGroups } from "temporalex/debug";
import type { JSX } from "preact";
import type { RunItem, RunModel } from "../store/run_model.ts";
import { Glyph } from "../ui/glyph.tsx";
import { Icon } from "../ui/icon.tsx";
import { count } from "../ui/time.ts";
import { chosenGroup } from "./chosen_group.ts";
import "./groups.css";

interface Known {
  readonly groups: readonly EventGroup[];
  readonly ofItem: ReadonlyMap<number, readonly EventGroup[]>;
}

const known = new WeakMap<RunModel, Known>();

function groupsOf(model: RunModel): Known {
  let found = known.get(model);
  if (found === undefined) {
    const groups = eventGroups(model);
    known.set(model, found = { groups, ofItem: byItem(groups) });
  }
  return found;
}

function byItem(groups: readonly EventGroup[]): Map<number, EventGroup[]> {
  const all = new Map<number, EventGroup[]>();
  for (const group of groups) {
    for (const item of group.items) {
      const own = all.get(item);
      if (own === undefined) all.set(item, [group]);
      else own.push(group);
    }
  }
  return all;
}

const choose = (model: RunModel, group: EventGroup | undefined) => {
  chosenGroup.value = group === undefined
    ? undefined
    : { model, group, items: new Set(group.items) };
};

/** Limit for the select: a run can have a group per signal. */
const MOST = 200;

/** The event id distinguishes messages of the same name. */
const nameOf = ({ kind, label, eventId }: EventGroup): string =>
  kind === "label" ? label : `${kind} ${label}, event ${eventId}`;

export function Bar({ model }: { model: RunModel }): JSX.Element | null {
  const { groups } = groupsOf(model);
  if (groups.length === 0) return null;
  const chosen = chosenGroup.value?.model === model ? chosenGroup.value.group : undefined;
  const index = chosen === undefined ? -1 : groups.findIndex(({ id }) => id === chosen.id);
  const some = groups.map((group, i) => [group, i] as const).slice(0, MOST);
  const labeled = some.filter(([{ kind }]) => kind === "label");
  const messages = some.filter(([{ kind }]) => kind !== "label");
  const option = ([group, i]: (typeof some)[number]) => (
    <option key={group.id} value={i}>{nameOf(group)} ({count(group.items.length)})</option>
  );
  return (
    <div class="group-bar">
      <label>
        <span>Group</span>
        <select
          id="event-group"
          value={index}
          onChange={({ currentTarget }) => choose(model, groups[Number(currentTarget.value)])}
        >
          <option value={-1}>All ({count(groups.length)} groups)</option>
          {labeled.length > 0 && messages.length > 0
            ? (
              <>
                <optgroup label="Labels in the code">{labeled.map(option)}</optgroup>
                <optgroup label="Messages">{messages.map(option)}</optgroup>
              </>
            )
            : some.map(option)}
          {index >= MOST && option([groups[index]!, index])}
        </select>
      </label>
      {chosen !== undefined && (
        <button
          type="button"
          class="button small bare"
          title="Show all items"
          onClick={() => choose(model, undefined)}
        >
          <Icon name="close" />
          <span class="unseen">Show all items</span>
        </button>
      )}
    </div>
  );
}

interface OfItem {
  readonly model: RunModel;
  readonly item: RunItem;
}

/** The chip in a row. Messages have none, because each starts a group. */
export function Chip({ model, item }: OfItem): JSX.Element | null {
  if (item.kind === "signal" || item.kind === "update" || !groupsOf(model).ofItem.has(item.index)) {
    return null;
  }
  return (
    <span role="gridcell" class="group-chips">
      <Chips model={model} item={item} most={1} />
    </span>
  );
}

/** Limit for chips. */
const MOST_CHIPS = 12;

export function Fact({ model, item }: OfItem): JSX.Element | null {
  const { ofItem } = groupsOf(model);
  const groups = ofItem.get(item.index)?.length ?? 0;
  return groups === 0 ? null : (
    <>
      <dt>{groups === 1 ? "Group" : "Groups"}</dt>
      <dd class="group-chips">
        <Chips model={model} item={item} most={MOST_CHIPS} />
      </dd>
    </>
  );
}

export function Chips({ model, item, most }: OfItem & { most: number }): JSX.Element | null {
  const all = groupsOf(model).ofItem.get(item.index);
  if (all === undefined) return null;
  // Labels in the code are more specific than messages, so they come first.
  const own = [...all].sort((a, b) => Number(b.kind === "label") - Number(a.kind === "label"));
  const chosen = chosenGroup.value?.model === model ? chosenGroup.value.group : undefined;
  const title = `In ${own.length === 1 ? "group" : "groups"} ${own.map(nameOf).join("; ")}`;
  return (
    <>
      {own.slice(0, most).map((group) => (
        <button
          type="button"
          class="group-chip"
          key={group.id}
          tabIndex={most === 1 ? -1 : 0}
          title={title}
          aria-label={`Group ${nameOf(group)}`}
          aria-pressed={group.id === chosen?.id}
          onClick={(event) => {
            event.stopPropagation();
            choose(model, group.id === chosen?.id ? undefined : group);
          }}
        >
          {group.kind !== "label" && group.kind !== "run" && <Glyph kind={group.kind} size={10} />}
          <span class="cut">{group.label}</span>
        </button>
      ))}
      {own.length > most && <span class="soft nowrap" title={title}>+{own.length - most}</span>}
    </>
  );
}
