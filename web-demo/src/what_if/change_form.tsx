// The form for one more change: of an item of the recorded run, or a new message.
import { useComputed } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Message } from "../../../ts/what_if/edits.ts";
import { position } from "../store/state.ts";
import { type Branches, tryEdits } from "./branches.ts";
import {
  buildEdit,
  changeTitle,
  choicesOf,
  type Field,
  FieldError,
  firstText,
  hasValues,
  textLabel,
  type What,
} from "./change_edit.ts";
import { asked } from "./mod.ts";

/** Value of the option for a new message. */
const NEW = "new";

export function ChangeForm({ branches }: { branches: Branches }): JSX.Element {
  const { model } = branches.run;
  const things =
    useComputed(() => model.items.filter((item) => choicesOf(model, item).length > 0)).value;
  const begin = asked.value;
  const wanted = begin !== undefined && !("index" in begin) ? begin : undefined;
  const near = begin !== undefined && "index" in begin
    ? begin
    : things.find(({ to, kind }) => to >= position.value && kind !== "run") ?? things.at(-1);
  const [thing, setThing] = useState<string>(
    wanted === undefined && near !== undefined ? String(near.index) : NEW,
  );
  const [wantedWhat, setWhat] = useState<What>();
  const [text, setText] = useState<string>();
  const [name, setName] = useState(wanted?.name);
  const [wantedKind, setKind] = useState<Message["kind"] | undefined>(wanted?.kind);
  const [after, setAfter] = useState<string>();
  const [wrong, setWrong] = useState<Error>();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => takeFocus(form.current!, begin !== undefined), []);
  const item = thing === NEW ? undefined : model.items[Number(thing)];
  const choices = choicesOf(model, item);
  const what = choices.some(([each]) => each === wantedWhat)
    ? wantedWhat!
    : choices[0]?.[0] ?? "send";
  const isMessage = what === "send" || what === "replace";
  const kind = wantedKind ?? (item?.kind === "update" ? "update" : "signal");
  const given = {
    text: text ?? firstText(model, item, what, kind),
    name: name ?? (what === "replace" && hasValues(kind) ? item?.name ?? "" : ""),
    kind,
    after: after ?? String(position.value),
  };
  const label = textLabel(what, kind);
  const problem = (field: Field) =>
    wrong instanceof FieldError && wrong.field === field ? wrong.message : undefined;
  const choose = (set: () => void) => {
    set();
    setText(undefined);
    setWrong(undefined);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    try {
      const edit = buildEdit(item, what, given, model.lines.length);
      setWrong(undefined);
      setText(undefined);
      void tryEdits(branches, changeTitle(item, what, given), [edit]);
    } catch (error) {
      setWrong(error as Error);
      if (error instanceof FieldError) {
        form.current?.querySelector<HTMLElement>(`[name="${error.field}"]`)?.focus();
      }
    }
  };
  return (
    <form class="change-form" ref={form} onSubmit={submit} noValidate>
      <h2 class="section-title">Change {branches.chosen.value === 0 ? "the run" : "B further"}</h2>
      <label>
        Item
        <select
          name="thing"
          value={thing}
          onChange={({ currentTarget }) => choose(() => setThing(currentTarget.value))}
        >
          {things.map(({ index, kind, name, from }) => (
            <option key={index} value={index}>{kind} {name} (event {from})</option>
          ))}
          <option value={NEW}>a new message</option>
        </select>
      </label>
      {item !== undefined && (
        <label>
          Change
          <select
            name="how"
            value={what}
            onChange={({ currentTarget }) => choose(() => setWhat(currentTarget.value as What))}
          >
            {choices.map(([each, label]) => <option key={each} value={each}>{label}</option>)}
          </select>
        </label>
      )}
      {isMessage && (
        <KindAndName
          given={given}
          setKind={(to) => choose(() => setKind(to))}
          setName={setName}
          wrong={problem("name")}
        />
      )}
      {(what === "send" || what === "move") && (
        <Labeled
          name="after"
          label={`After event, 1 to ${model.lines.length}`}
          wrong={problem("after")}
        >
          <input
            {...marks("after", problem("after"))}
            inputMode="numeric"
            value={given.after}
            onInput={({ currentTarget }) => setAfter(currentTarget.value)}
          />
        </Labeled>
      )}
      {label !== undefined && (
        <Labeled name="text" label={label} wrong={problem("text")}>
          <textarea
            {...marks("text", problem("text"))}
            rows={label.startsWith("Values") ? 6 : 2}
            value={given.text}
            spellcheck={false}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </Labeled>
      )}
      <button type="submit" class="button what-if" id="run-branch">Run this branch</button>
      {wrong !== undefined && !(wrong instanceof FieldError) && (
        <p class="bad" role="alert">{wrong.message}</p>
      )}
    </form>
  );
}

/**
 * Focuses the form if the user opened it with "Change this". Never takes the focus from another
 * element.
 */
function takeFocus(form: HTMLFormElement, wasAsked: boolean): void {
  if (!wasAsked || document.activeElement !== document.body) return;
  const field = (name: string) => form.querySelector<HTMLElement>(`[name=${name}]`);
  (field("text") ?? field("thing"))?.focus({ preventScroll: true });
}

/** Attributes of a field; marks it as invalid and links it to its error. */
const marks = (name: Field, wrong: string | undefined) => ({
  name,
  ...(wrong !== undefined && { "aria-invalid": true, "aria-describedby": `wrong-${name}` }),
});

interface LabeledProps {
  readonly name: Field;
  readonly label: string;
  readonly wrong: string | undefined;
  readonly children: ComponentChildren;
}

/** A field with its label and its error. */
const Labeled = ({ name, label, wrong, children }: LabeledProps): JSX.Element => (
  <div class="field">
    <label>{label} {children}</label>
    {wrong !== undefined && <p class="bad" role="alert" id={`wrong-${name}`}>{wrong}</p>}
  </div>
);

interface KindAndNameProps {
  readonly given: { readonly kind: Message["kind"]; readonly name: string };
  readonly wrong: string | undefined;
  setKind(kind: Message["kind"]): void;
  setName(name: string): void;
}

const KINDS: readonly (readonly [Message["kind"], string])[] = [
  ["signal", "signal"],
  ["update", "update"],
  ["cancel", "cancel request"],
  ["terminate", "termination"],
];

const KindAndName = (
  { given: { kind, name }, wrong, setKind, setName }: KindAndNameProps,
): JSX.Element => (
  <div class={hasValues(kind) ? "two" : ""}>
    <label>
      Kind
      <select
        name="kind"
        value={kind}
        onChange={({ currentTarget }) => setKind(currentTarget.value as Message["kind"])}
      >
        {KINDS.map(([each, label]) => <option key={each} value={each}>{label}</option>)}
      </select>
    </label>
    {hasValues(kind) && (
      <Labeled name="name" label="Name" wrong={wrong}>
        <input
          {...marks("name", wrong)}
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
          spellcheck={false}
        />
      </Labeled>
    )}
  </div>
);
