// The frame of the page: top bar, notices, and the room that is shown.
import type { JSX } from "preact";
import { Live } from "../live/mod.ts";
import { Permission } from "../realm/permission.tsx";
import { Runs } from "../runs/mod.ts";
import { dragging } from "../open/drop_paste.ts";
import { FirstScreen } from "./first_screen.tsx";
import { KeysSheet } from "./keys_sheet.tsx";
import { Notices } from "./notice_list.tsx";
import { PasteDialog } from "./open_buttons.tsx";
import { OpenRoom } from "./open_room.tsx";
import { currentRun, intro, room } from "../store/state.ts";
import { TopBar } from "./top_bar.tsx";
import "../take_away/mod.ts";
import { compareScreen, isComparing } from "../compare/mod.ts";
import "../codec/mod.ts";
import { screen, whatIfRun } from "../what_if/mod.ts";

function InSight(): JSX.Element | null {
  if (room.value === "runs") return <Runs />;
  if (room.value === "live") return null;
  const run = currentRun.value;
  if (run === undefined || intro.value) return <FirstScreen run={run} />;
  const Compare = isComparing.value ? compareScreen.value : undefined;
  if (Compare !== undefined) return <Compare />;
  const WhatIf = whatIfRun.value === run ? screen.value : undefined;
  return WhatIf === undefined ? <OpenRoom run={run} /> : <WhatIf run={run} />;
}

export function App(): JSX.Element {
  return (
    <>
      <TopBar />
      <Notices />
      <Permission />
      <main id="main" class="room" tabIndex={-1} data-room={room.value}>
        <InSight />
        <Live isShown={room.value === "live"} />
      </main>
      {dragging.value && (
        <div class="drop-here" aria-hidden="true">
          <p>Drop histories, or the workflow code</p>
        </div>
      )}
      <KeysSheet />
      <PasteDialog />
    </>
  );
}
