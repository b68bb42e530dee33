// The room of runs where nothing serves it any: what it shows, and the commands that do, to be copied.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import "./invitation.css";

const COMMANDS: readonly (readonly [string, string])[] = [
  ["A store of this machine", "npx temporalex ui --store shop.sqlite"],
  ["A Temporal cluster", "npx temporalex ui --address localhost:7233"],
  ["To look only", "npx temporalex ui --address localhost:7233 --read-only"],
];

const SHOWN: readonly (readonly [string, string])[] = [
  ["Find", "Workflows as they start and end, by list filter, status and time."],
  ["Watch", "One run with its timeline as it grows, and what it waits for."],
  ["Act", "Signals, updates and queries by forms; cancel and terminate."],
  ["Debug", "Any run in the debugger, beside its code, in one click."],
];

/** Needs nothing but the page's own files. */
export function Invitation(): JSX.Element {
  const [copied, setCopied] = useState<string>();
  return (
    <div class="invitation">
      <h1>Every run of a store or a cluster, as it happens.</h1>
      <p class="lead">This room is served from your machine, on the loopback. Start it with one of these:</p>
      <dl class="invitation-commands">
        {COMMANDS.map(([what, command]) => (
          <div key={command}>
            <dt>{what}</dt>
            <dd>
              <code>{command}</code>
              <button
                type="button"
                class="button small"
                aria-label={`Copy ${command}`}
                onClick={() => void navigator.clipboard.writeText(command).then(() => setCopied(command))}
              >
                {copied === command ? "Copied" : "Copy"}
              </button>
            </dd>
          </div>
        ))}
      </dl>
      <ul class="invitation-shown">
        {SHOWN.map(([name, text]) => (
          <li key={name}>
            <h2>{name}</h2>
            <p>{text}</p>
          </li>
        ))}
      </ul>
      <p class="soft">
        No store yet? <a href="#/live">Live</a> has workflows that run in this tab.
      </p>
    </div>
  );
}
