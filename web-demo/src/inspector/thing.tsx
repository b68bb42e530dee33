// The selected item, or the one at the position: arguments, result, duration, ids, and a copy as
// JSON.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { tasksUpTo } from "../store/ascending.ts";
import { groupParts } from "../events/chosen_group.ts";
import { goTo, type OpenRun, position, shownItem } from "../store/state.ts";
import type { RunItem } from "../store/run_model.ts";
import { Glyph, glyphTitle } from "../ui/glyph.tsx";
import { changeThis, isChangeable } from "./legal_now.ts";
import { type ThingFact, thingFacts } from "./thing_facts.ts";
import { ValueTree } from "../ui/value_tree.tsx";
import { formatJson, lineOfValue } from "../../../ts/run_view/value_text.ts";

/** Events that are copied: a task can have ten thousand commands. */
const MOST = 200;
/** Characters; a longer value is shown as a tree. */
const ON_LINES = 90;

export function ThingSection({ run }: { run: OpenRun }): JSX.Element | null {
  const item = shownItem.value;
  const at = position.value;
  const { model } = run;
  const [copied, setCopied] = useState<RunItem | undefined>(undefined);
  const task = item === undefined ? 0 : tasksUpTo(model.tasks, item.from);
  const facts = useMemo(
    () =>
      item === undefined
        ? []
        : thingFacts(model, item, at, item.kind === "update" ? task : undefined),
    [model, item, at],
  );
  if (item === undefined) return null;
  const copy = () => {
    const events = item.eventIds.slice(0, MOST).map((id) => [`event ${id}`, model.eventOf(id)]);
    void navigator.clipboard.writeText(formatJson(Object.fromEntries(events))).then(() =>
      setCopied(item)
    );
  };
  const Groups = model.hasGroups && item.kind !== "task" ? groupParts.value : undefined;
  // The name of a task is its number.
  const number = tasksUpTo(model.tasks, item.to);
  const title = glyphTitle(item.kind, item.kind === "task" ? String(number) : item.name);
  return (
    <section class="section" id="thing">
      <h3>
        <span class="thing-name cut" title={title}>
          <Glyph kind={item.kind} /> {title.charAt(0).toUpperCase() + title.slice(1)}
        </span>
        <button type="button" class="link-button soft nowrap" onClick={() => goTo(item.from)}>
          {item.from === item.to ? `event ${item.from}` : `events ${item.from}–${item.to}`}
        </button>
      </h3>
      <dl class="facts">
        {Groups !== undefined && <Groups.Fact model={model} item={item} />}
        {facts.map((
          fact,
        ) => [<dt key={`name ${fact.name}`}>{fact.name}</dt>, <Value key={fact.name} {...fact} />])}
      </dl>
      <div class="chips">
        <button type="button" class="button small" onClick={copy}>
          {copied === item ? "Copied" : "Copy JSON"}
        </button>
        {changeThis.value !== undefined && isChangeable(item) && run.code.value !== undefined && (
          <button
            type="button"
            class="button small what-if"
            id="change-this"
            onClick={() => changeThis.value?.(run, item)}
          >
            <Glyph kind="whatIf" /> Change this…
          </button>
        )}
      </div>
    </section>
  );
}

function Value({ name, what, isFuture, isFailure = false }: ThingFact): JSX.Element {
  const look = `${isFuture ? "future" : ""} ${isFailure ? "failed" : ""}`;
  if ("text" in what) {
    return <dd class={`${isFailure ? "wrap" : "cut"} ${look}`} title={what.text}>{what.text}</dd>;
  }
  const text = lineOfValue(what.value, ON_LINES);
  return (
    <dd class={`mono wrap ${look}`}>
      {text.endsWith("…") || text.length > ON_LINES
        ? <ValueTree key={text} value={what.value} label={name} />
        : text}
    </dd>
  );
}
