// The size of the history compared with the limits of a server, and when the server will suggest to
// continue as new.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { RunLimit } from "temporalex/debug";
import { goTo, type OpenRun, playing } from "../store/state.ts";
import { still } from "../ui/still.ts";
import { count, lasting } from "../ui/time.ts";
import { type NextLimit, nextLimit } from "./next_limit.ts";
import "../no_code/no_code.css";

const LIMITS: { readonly [name in RunLimit["name"]]: string } = {
  events: "Events",
  size: "Size",
  payload: "Largest payload",
};

function go(eventId: number): void {
  playing.value = false;
  goTo(eventId);
}

export const Limits = still(({ run }: { run: OpenRun }): JSX.Element => {
  const next = useMemo(() => nextLimit(run.model), [run]);
  return (
    <section class="section" id="limits">
      <h3>Server limits</h3>
      <dl class="limits">
        {run.model.limits.map(({ name, value, most, warns, eventId }) => {
          const text = name === "events"
            ? `${count(value)} of ${count(most)}`
            : `${bytes(value)} of ${bytes(most)}`;
          return [
            <dt key={`${name} name`}>{LIMITS[name]}</dt>,
            <dd key={name}>
              <span
                class="part-meter"
                role="img"
                aria-label={`${Math.round(value / most * 100)} %`}
              >
                <i
                  class={value >= warns ? "k-red" : "k-run"}
                  ref={(element) =>
                    element?.style.setProperty(
                      "width",
                      `${Math.min(100, Math.max(1.5, value / most * 100))}%`,
                    )}
                />
              </span>
              {eventId > 0
                ? (
                  <button
                    type="button"
                    class="link-button"
                    title={`event ${eventId}`}
                    onClick={() => go(eventId)}
                  >
                    {text}
                  </button>
                )
                : <span>{text}</span>}
            </dd>,
          ];
        })}
      </dl>
      {next !== undefined && <p class="second">{nextText(next)}</p>}
    </section>
  );
});

function bytes(size: number): string {
  if (size < 1024) return `${size} B`;
  if (size < 1024 * 1024) return `${Math.round(size / 1024)} KiB`;
  return `${Math.round(size / 1024 / 102.4) / 10} MiB`;
}

function nextText({ name, warns, inMs }: NextLimit): string {
  const what = name === "events" ? `${count(warns)} events` : bytes(warns);
  return inMs === 0
    ? `The server suggests to continue as new: the history has ${what} or more.`
    : `At the current rate, the server suggests to continue as new in about ${
      lasting(inMs)
    }, at ${what}.`;
}
