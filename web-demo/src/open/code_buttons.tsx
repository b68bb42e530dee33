// Opens code from drops, pastes and file dialogs.
import type { JSX } from "preact";
import { codeReceiver } from "./drop_paste.ts";
import { inTurn, openFiles } from "./open_history.ts";
import { type Dropped, takeDrop, takeFiles } from "../realm/dropped.ts";

/** The start of source code; a history never starts like this. */
const IS_CODE = /^\s*(?:(?:import|export|const|async|function)\b|\/[/*])/;

/** Registers the handlers for dropped and pasted code. */
export function acceptCode(): void {
  codeReceiver.current = {
    drop: (data) => {
      const dropped = takeDrop(data);
      if (dropped.files.length + dropped.folders.length === 0) return false;
      inTurn(() => take(dropped));
      return true;
    },
    paste: (text) => {
      if (!IS_CODE.test(text)) return false;
      inTurn(async () => (await import("./take_code.ts")).takePaste(text));
      return true;
    },
  };
}

async function take(dropped: Dropped): Promise<void> {
  if (dropped.histories.length > 0) await openFiles(dropped.histories);
  if (dropped.files.length + dropped.folders.length > 0) {
    await (await import("./take_code.ts")).takeCode(dropped);
  }
}

/** Buttons for a folder and for files of code. */
export function CodeButtons(): JSX.Element {
  return (
    <div class="code-buttons">
      <FileButton label="Open a folder" folder />
      <FileButton label="Open files" />
    </div>
  );
}

/** Replaces the code with that of another folder, for example another version. */
export function OtherFolderButton(): JSX.Element {
  return (
    <FileButton
      label="Other folder"
      folder
      small
      id="other-folder"
      title="Replay with the code of another folder; you can also drop it"
    />
  );
}

function FileButton({ label, folder = false, small = false, ...attributes }: {
  readonly label: string;
  readonly folder?: boolean;
  readonly small?: boolean;
  readonly id?: string;
  readonly title?: string;
}): JSX.Element {
  return (
    <label class={small ? "button small wide-only" : "button"} {...attributes}>
      {label}
      <input
        type="file"
        class="unseen"
        multiple
        {...(folder
          ? { webkitdirectory: true }
          : { accept: ".ts,.tsx,.mts,.cts,.js,.mjs,.cjs,.jsx" })}
        onChange={({ currentTarget }) => {
          const chosen = takeFiles([...currentTarget.files ?? []]);
          inTurn(() => take(chosen));
          currentTarget.value = "";
        }}
      />
    </label>
  );
}
