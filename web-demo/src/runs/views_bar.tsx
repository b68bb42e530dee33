// Saved views and columns of the list.
import { type Signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { Dialog } from "../ui/dialog.tsx";
import {
  attributeColumns,
  knownAttributes,
  shownColumns,
  STANDARD,
  toggleColumn,
} from "./columns.ts";
import { Field, FormDialog } from "./form_dialog.tsx";
import { currentView, deleteView, openView, savedViews, saveView } from "./saved_views.ts";

export function ViewsBar(): JSX.Element {
  const isSaving = useSignal(false);
  const isChoosing = useSignal(false);
  const name = useSignal("");
  const current = currentView();
  const save = async () => saveView(name.value.trim());
  return (
    <div class="views-bar">
      {savedViews.value.length > 0 && (
        <select
          aria-label="Saved view"
          value={current?.name ?? ""}
          onChange={({ currentTarget }) => {
            const view = savedViews.value.find((each) => each.name === currentTarget.value);
            if (view !== undefined) openView(view);
          }}
        >
          <option value="" disabled>Saved views</option>
          {savedViews.value.map((view) => (
            <option key={view.name} value={view.name}>{view.name}</option>
          ))}
        </select>
      )}
      {current === undefined
        ? (
          <button type="button" class="button" onClick={() => (isSaving.value = true)}>
            Save view…
          </button>
        )
        : (
          <button type="button" class="button" onClick={() => deleteView(current.name)}>
            Delete view
          </button>
        )}
      <button type="button" class="button" onClick={() => (isChoosing.value = true)}>
        Columns…
      </button>
      <FormDialog
        id="save-view"
        title="Save this view"
        isOpen={isSaving}
        action="Save"
        isReady={name.value.trim() !== ""}
        submit={save}
      >
        <p class="second">Filter, time range and columns are stored in this browser.</p>
        <Field label="Name" value={name} isRequired />
      </FormDialog>
      <ColumnsDialog isOpen={isChoosing} />
    </div>
  );
}

function ColumnsDialog(
  { isOpen }: { isOpen: Signal<boolean> },
): JSX.Element {
  const added = useSignal("");
  const add = (event: Event) => {
    event.preventDefault();
    const name = added.value.trim();
    if (name === "" || /[,@]/.test(name)) return;
    if (!attributeColumns.value.includes(name)) toggleColumn(`@${name}`);
    added.value = "";
  };
  const choices: readonly (readonly [string, string])[] = [
    ...STANDARD.map(([name, title]) => [name, title] as const),
    ...knownAttributes.value.map((name) => [`@${name}`, name] as const),
  ];
  return (
    <Dialog id="choose-columns" title="Columns" isOpen={isOpen}>
      <form class="form" onSubmit={add}>
        <div class="column-choices" role="group" aria-label="Shown columns">
          {choices.map(([name, title]) => (
            <label key={name} class="check">
              <input
                type="checkbox"
                checked={shownColumns.value.includes(name)}
                onChange={() => toggleColumn(name)}
              />
              <span class={name.startsWith("@") ? "mono" : undefined}>{title}</span>
            </label>
          ))}
        </div>
        <Field label="Search attribute" hint="shown as a column" value={added} isMono />
        <p class="button-row">
          <button type="submit" class="button" disabled={added.value.trim() === ""}>
            Add column
          </button>
          <button type="button" class="button main" onClick={() => (isOpen.value = false)}>
            Done
          </button>
        </p>
      </form>
    </Dialog>
  );
}
