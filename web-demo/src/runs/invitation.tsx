// The room of runs on a page without a service: its features, and the commands that serve it.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import "./invitation.css";

const COMMANDS: readonly (readonly [string, string])[] = [
  ["A store on this machine", "npx temporalex ui --store shop.sqlite"],
  ["A Temporal cluster", "npx temporalex ui --address localhost:7233"],
  ["Read-only", "npx temporalex ui --address localhost:7233 --read-only"],
];

const SHOWN: readonly (readonly [string, string])[] = [
  ["Find", "Live list of workflows, by list filter, status and time."],
  ["Watch", "A run with its growing timeline, state, activities and call stack."],
  ["Act", "Start, signal, update, query, reset, cancel and terminate; batches and schedules."],
  ["Debug", "Each run in the debugger, next to its code, in one click."],
];

/** Uses only files of the page. */
export function Invitation(): JSX.Element {
  const [copied, setCopied] = useState<string>();
  return (
    <div class="invitation">
      <h1>All runs of a store or a cluster, live.</h1>
      <p class="lead">
        This room is served on the loopback interface of your machine. Start it with one of these
        commands:
      </p>
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
                onClick={() =>
                  void navigator.clipboard.writeText(command).then(() => setCopied(command))}
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
