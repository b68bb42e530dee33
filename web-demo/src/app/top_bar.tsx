// Rooms, what is known of the run, the verdict, the actions. One line; facts give way first.
import type { JSX } from "preact";
import { Icon, IconButton } from "../ui/icon.tsx";
import { sheetIsOpen } from "./keys.ts";
import { Glyph } from "../ui/glyph.tsx";
import { isReadyOffline } from "./offline.ts";
import { RunFacts } from "./run_facts.tsx";
import { currentRun, intro, type Room, room } from "./state.ts";
import { switchTheme } from "./theme.ts";
import { Actions } from "./actions.tsx";
import "./top_bar.css";
import { VerdictChip } from "./verdict.tsx";

const ROOMS: readonly (readonly [Room, string])[] = [["open", "Open"], ["runs", "Runs"], ["live", "Live"]];

export function TopBar(): JSX.Element {
  const run = room.value === "open" && !intro.value ? currentRun.value : undefined;
  return (
    <header class="top">
      <a class="skip" href="#main" onClick={toMain}>Skip to the run</a>
      <p class="brand">
        <Icon name="brand" size={20} />
        <span class="brand-name">temporalex</span>
      </p>
      <nav class="rooms" aria-label="Rooms">
        {ROOMS.map(([name, text]) => (
          <a
            key={name}
            id={`room-${name}`}
            href={`#/${name}`}
            aria-current={room.value === name ? "page" : undefined}
            onClick={(event) => {
              event.preventDefault();
              room.value = name;
            }}
          >
            {text}
          </a>
        ))}
      </nav>
      <div class="facts-line">{run !== undefined && <RunFacts run={run} />}</div>
      {run !== undefined && <VerdictChip run={run} />}
      {run === undefined && isReadyOffline.value && (
        <p class="verdict ok" title="The page's files are in this browser: it opens without a network">
          <Glyph kind="replays" /> Ready offline
        </p>
      )}
      <div class="actions">
        {run !== undefined && <Actions run={run} />}
        <IconButton icon="theme" label="Light or dark" onPress={switchTheme} />
        <button
          type="button"
          class="icon-button"
          id="show-keys"
          aria-label="Keys"
          title="Keys (?)"
          onClick={() => (sheetIsOpen.value = true)}
        >
          <b>?</b>
        </button>
      </div>
    </header>
  );
}

function toMain(event: Event): void {
  // The address is the router's.
  event.preventDefault();
  document.getElementById("main")?.focus();
}
