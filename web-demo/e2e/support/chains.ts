// Related runs, as a Temporal server recorded them (chains.json, exported by `temporal workflow
// show --output json`): "night-1" to "night-4" continue as new, and the second has a child
// "mail-2-1"; "flaky" is retried, "tick" is of a cron schedule, "ship" was reset.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

interface Event {
  readonly eventId: string;
  readonly eventTime: string;
  readonly [attributes: string]: unknown;
}
type Recorded = { readonly events: readonly Event[] };
const all = JSON.parse(
  readFileSync(fileURLToPath(new URL("chains.json", import.meta.url)), "utf8"),
) as {
  readonly [name: string]: Recorded;
};

export const recorded = (name: string): { readonly name: string; readonly content: string } => ({
  name: `${name}.json`,
  content: JSON.stringify(all[name]!),
});
export const recordedAll = (prefix: string) =>
  Object.keys(all).filter((name) => name.startsWith(prefix)).map(recorded);

const idOf = (n: number) => `${String(n).padStart(8, "0")}-0000-4000-8000-000000000000`;

/** A chain of many runs: copies of the first recorded run, each with its own times and run ids. */
export function longChain(runs: number): { readonly name: string; readonly content: string }[] {
  const { events } = all["night-1"]!;
  const text = JSON.stringify({ events });
  const id = /"originalExecutionRunId":"([^"]+)"/.exec(text)![1]!;
  const next = /"newExecutionRunId":"([^"]+)"/.exec(text)![1]!;
  const startMs = Date.parse(events[0]!.eventTime);
  const tookMs = Date.parse(events.at(-1)!.eventTime) - startMs;
  return Array.from({ length: runs }, (_, n) => {
    const own = text.replaceAll(next, idOf(n + 1)).replaceAll(id, idOf(n));
    const before = `"workflowExecutionStartedEventAttributes":{"continuedExecutionRunId":"${
      n === 0 ? "" : idOf(n - 1)
    }",`;
    const moved = own.replace('"workflowExecutionStartedEventAttributes":{', before)
      .replace(
        /"eventTime":"([^"]+)"/g,
        (_, time: string) =>
          `"eventTime":"${new Date(Date.parse(time) + n * (tookMs + 1000)).toISOString()}"`,
      );
    return { name: `long-${n + 1}.json`, content: moved };
  });
}
