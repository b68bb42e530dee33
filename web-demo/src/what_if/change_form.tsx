// One more change: of something that the recorded run has, or a message that it was never sent.
import { useComputed } from "@preact/signals";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Edit } from "../../../ts/what_if/edits.ts";
import type { RunItem } from "../app/run_model.ts";
import { position } from "../app/state.ts";
import { type Branches, tryEdits } from "./branches.ts";
import { asked } from "./mod.ts";
import { jsonText } from "./words.ts";

type What = "values" | "drop" | "again" | "fails" | "answers" | "times out" | "fires" | "send";

const WHATS: { readonly [kind in RunItem["kind"]]?: readonly (readonly [What, string])[] } = {
  run: [["values", "other arguments"]],
  signal: [["values", "other values"], ["drop", "was not sent"], ["again", "is sent again"]],
  update: [["values", "other values"], ["drop", "was not sent"], ["again", "is sent again"]],
  activity: [["fails", "fails"], ["answers", "answers by hand"], ["times out", "times out"]],
  child: [["fails", "fails"], ["answers", "answers by hand"]],
  timer: [["fires", "fires after, in seconds"]],
};

/** Where a new message stands in the list of things. */
const NEW = "new";

export function ChangeForm({ branches }: { branches: Branches }): JSX.Element {
  const { model } = branches.run;
  const things = useComputed(() => model.items.filter(({ kind }) => WHATS[kind] !== undefined)).value;
  const begin = asked.value;
  const wanted = begin !== undefined && !("index" in begin) ? begin : undefined;
  const near = begin !== undefined && "index" in begin
    ? begin
    : things.find(({ to, kind }) => to >= position.value && kind !== "run") ?? things.at(-1);
  const [thing, setThing] = useState<string>(wanted === undefined && near !== undefined ? String(near.index) : NEW);
  const [what, setWhat] = useState<What>();
  const [text, setText] = useState<string>();
  const [name, setName] = useState(wanted?.name ?? "");
  const [kind, setKind] = useState<"signal" | "update">(wanted?.kind ?? "signal");
  const [wrong, setWrong] = useState("");
  const item = thing === NEW ? undefined : model.items[Number(thing)];
  const whats: readonly (readonly [What, string])[] = item === undefined ? [["send", "send"]] : WHATS[item.kind] ?? [];
  const chosen = whats.some(([each]) => each === what) ? what! : whats[0]?.[0] ?? "send";
  const given = text ?? defaultText(branches, item, chosen);
  const needsText = chosen !== "drop" && chosen !== "again" && chosen !== "times out";
  const submit = (event: Event) => {
    event.preventDefault();
    try {
      const edit = editOf(item, chosen, given, { kind, name });
      setWrong("");
      setText(undefined);
      const label = whats.find(([each]) => each === chosen)?.[1] ?? "";
      void tryEdits(branches, item === undefined ? `${name} is sent` : `${item.name || "start"} ${label}`, [edit]);
    } catch (error) {
      setWrong((error as Error).message);
    }
  };
  return (
    <form class="change-form" onSubmit={submit}>
      <h2 class="section-title">Change {branches.chosen.value === 0 ? "the run" : "B further"}</h2>
      <label>
        What
        <select
          name="thing"
          value={thing}
          onChange={({ currentTarget }) => {
            setThing(currentTarget.value);
            setText(undefined);
          }}
        >
          {things.map(({ index, kind, name, from }) => <option key={index} value={index}>{kind} {name} (event {from})</option>)}
          <option value={NEW}>a new message, after event {position.value}</option>
        </select>
      </label>
      {item === undefined && <NewMessage kind={kind} name={name} setKind={setKind} setName={setName} />}
      {item !== undefined && (
        <label>
          How
          <select
            name="how"
            value={chosen}
            onChange={({ currentTarget }) => {
              setWhat(currentTarget.value as What);
              setText(undefined);
            }}
          >
            {whats.map(([each, label]) => <option key={each} value={each}>{label}</option>)}
          </select>
        </label>
      )}
      {needsText && (
        <label>
          {chosen === "fires"
            ? "Seconds"
            : chosen === "fails"
            ? "Message"
            : chosen === "answers"
            ? "Result, as JSON"
            : "Values, as a JSON list"}
          <textarea
            name="text"
            rows={chosen === "values" || chosen === "send" ? 6 : 2}
            value={given}
            spellcheck={false}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
      )}
      <button type="submit" class="button what-if" id="run-branch">Run this branch</button>
      {wrong !== "" && <p class="bad" role="alert">{wrong}</p>}
    </form>
  );
}

interface NewMessageProps {
  readonly kind: "signal" | "update";
  readonly name: string;
  setKind(kind: "signal" | "update"): void;
  setName(name: string): void;
}

const NewMessage = ({ kind, name, setKind, setName }: NewMessageProps): JSX.Element => (
  <div class="two">
    <label>
      Kind
      <select name="kind" value={kind} onChange={({ currentTarget }) => setKind(currentTarget.value as "signal" | "update")}>
        <option value="signal">signal</option>
        <option value="update">update</option>
      </select>
    </label>
    <label>
      Name <input name="name" value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} spellcheck={false} />
    </label>
  </div>
);

function defaultText({ run: { model } }: Branches, item: RunItem | undefined, what: What): string {
  if (item === undefined) return "[]";
  if (what === "fails") return `${item.name} failed`;
  if (what === "fires") return "1";
  if (what === "answers") {
    const output = model.outputOf(item);
    return output !== undefined && "value" in output ? jsonText(output.value) : "null";
  }
  return jsonText(model.inputOf(item).map((one) => "value" in one ? one.value : null));
}

function listOf(text: string): readonly unknown[] {
  const values: unknown = JSON.parse(text);
  if (!Array.isArray(values)) throw new TypeError("give the values as a JSON list: [first, second]");
  return values;
}

function editOf(item: RunItem | undefined, what: What, text: string, message: { kind: "signal" | "update"; name: string }): Edit {
  if (item === undefined) {
    if (message.name === "") throw new TypeError("a message has a name");
    return { kind: "insert", after: position.value, message: { ...message, args: listOf(text) } };
  }
  const eventId = item.from;
  const call = item.kind === "child" ? "child" : "activity";
  switch (what) {
    case "values":
      return item.kind === "run" ? { kind: "input", args: listOf(text) } : { kind: "payload", eventId, args: listOf(text) };
    case "drop":
      return { kind: "drop", eventId };
    case "again":
      return { kind: "duplicate", eventId };
    case "fails":
      return { kind: call, eventId, end: { kind: "failed", failure: { message: text } } };
    case "times out":
      return { kind: call, eventId, end: { kind: "timed out" } };
    case "answers":
      return { kind: call, eventId, end: { kind: "completed", result: JSON.parse(text) as unknown } };
    default: {
      const seconds = Number(text);
      if (!(seconds >= 0)) throw new TypeError("give a number of seconds from 0 on");
      return { kind: "timer", eventId, afterMs: seconds * 1000 };
    }
  }
}
