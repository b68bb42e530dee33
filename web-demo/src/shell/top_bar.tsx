// The top bar: rooms, facts of the run, verdict, actions. One line; the facts shrink first.
import type { JSX } from "preact";
import { Icon, IconButton } from "../ui/icon.tsx";
import { sheetIsOpen } from "../store/keys.ts";
import { Glyph } from "../ui/glyph.tsx";
import { isReadyOffline } from "./offline.ts";
import { RunFacts } from "./run_facts.tsx";
import { currentRun, intro, type Room, room } from "../store/state.ts";
import { switchTheme } from "../store/theme.ts";
import { Actions } from "../store/actions.tsx";
import "./top_bar.css";
import { VerdictChip } from "./verdict.tsx";

const ROOMS: readonly (readonly [Room, string])[] = [["open", "Open"], ["runs", "Runs"], [
  "live",
  "Live",
]];

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
        <p
          class="verdict ok"
          title="The page's files are stored in this browser, so it opens without a network"
        >
          <Glyph kind="replays" /> Ready offline
        </p>
      )}
      <div class="actions">
        {run !== undefined && <Actions run={run} />}
        <IconButton icon="theme" label="Switch theme" onPress={switchTheme} />
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
  // The default action would overwrite the router's address.
  event.preventDefault();
  document.getElementById("main")?.focus();
}
