// The buttons Share and Test of the top bar, and their dialogs.
import type { JSX } from "preact";
import type { OpenRun } from "../store/state.ts";
import { dialogs, openDialog } from "./mod.ts";

export function TakeAwayButtons({ run }: { run: OpenRun }): JSX.Element {
  const Dialogs = dialogs.value;
  return (
    <>
      <button type="button" id="share" class="button bare" onClick={() => void openDialog("share")}>
        Share
      </button>
      <button
        type="button"
        id="make-test"
        class="button bare"
        onClick={() => void openDialog("test")}
      >
        Test
      </button>
      {Dialogs !== undefined && <Dialogs run={run} />}
    </>
  );
}
