// A dialog with a form: fields, the error of the last attempt, Cancel and one action.
import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { Dialog } from "../ui/dialog.tsx";
import { isServerGone } from "./state.ts";

interface Props {
  readonly id: string;
  readonly title: string;
  readonly isOpen: Signal<boolean>;
  /** Text of the button that submits. */
  readonly action: string;
  /** For actions that cannot be undone. */
  readonly isRisky?: boolean;
  /** Text of the button that closes the dialog. */
  readonly cancel?: string;
  readonly isReady?: boolean;
  readonly children: ComponentChildren;
  /** The dialog closes when it resolves, and shows the error when it rejects. */
  submit(): Promise<void>;
}

export function FormDialog(
  {
    id,
    title,
    isOpen,
    action,
    isRisky = false,
    cancel = "Cancel",
    isReady = true,
    children,
    submit,
  }: Props,
): JSX.Element {
  const trouble = useSignal<string | undefined>(undefined);
  const isBusy = useSignal(false);
  const send = async (event: Event) => {
    event.preventDefault();
    if (isBusy.value) return;
    isBusy.value = true;
    trouble.value = undefined;
    try {
      await submit();
      isOpen.value = false;
    } catch (error) {
      trouble.value = (error as Error).message;
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <Dialog id={id} title={title} isOpen={isOpen}>
      <form class="form" onSubmit={(event) => void send(event)}>
        {children}
        {trouble.value !== undefined && <p class="bad" role="alert">{trouble.value}</p>}
        <p class="button-row">
          <button type="button" class="button" onClick={() => (isOpen.value = false)}>
            {cancel}
          </button>
          <button
            type="submit"
            class={isRisky ? "button risky" : "button main"}
            disabled={isBusy.value || isServerGone.value || !isReady}
          >
            {action}
          </button>
        </p>
      </form>
    </Dialog>
  );
}

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: Signal<string>;
  readonly list?: string;
  readonly isMono?: boolean;
  readonly isRequired?: boolean;
  readonly rows?: number;
  readonly placeholder?: string;
  onInput?(value: string): void;
}

/** A labeled text field; with `rows`, of several lines. */
export function Field(
  { label, hint, value, list, isMono, isRequired, rows, placeholder, onInput }: FieldProps,
): JSX.Element {
  const take = (text: string) => {
    value.value = text;
    onInput?.(text);
  };
  const all = {
    class: isMono === true ? "mono" : undefined,
    spellcheck: false,
    autocomplete: "off",
    required: isRequired,
    placeholder,
    value: value.value,
  };
  return (
    <label>
      <span>
        {label} {hint !== undefined && <span class="soft hint">{hint}</span>}
      </span>
      {rows === undefined
        ? <input {...all} list={list} onInput={(event) => take(event.currentTarget.value)} />
        : <textarea {...all} rows={rows} onInput={(event) => take(event.currentTarget.value)} />}
    </label>
  );
}
