// What is known of a run that went wrong, as text: the error with its causes, each event in a line,
// and what the workers logged meanwhile.
// deno-lint-ignore no-explicit-any
type Any = any;

/** An error and what caused it, one line each. */
function causes(error: unknown): string[] {
  const lines: string[] = [];
  for (let at: Any = error; at != null && lines.length < 10; at = at.cause) {
    lines.push(`${at.name ?? typeof at}: ${at.message ?? String(at)}`);
  }
  return lines;
}

/** What an event holds, without bytes: those of payloads are read as text. */
const plain = (_: string, value: unknown): unknown =>
  value instanceof Uint8Array
    ? new TextDecoder().decode(value)
    : typeof value === "object" && value !== null && "low" in value && "high" in value
    ? String(value)
    : value;

/** One event, as a client of the official SDK gives it. */
function eventLine(event: Any): string {
  const attributes = Object.keys(event).find((key) =>
    key.endsWith("EventAttributes") && event[key] != null
  );
  const { seconds, nanos } = event.eventTime;
  const time = new Date(Number(seconds) * 1000 + nanos / 1e6).toISOString();
  return `${event.eventId} ${time} ${attributes?.slice(0, -15) ?? event.eventType} ${
    JSON.stringify(event[attributes!], plain)?.slice(0, 1500)
  }`;
}

/** An error that says all of this. */
export function runReport(
  workflowId: string,
  error: unknown,
  events: readonly unknown[],
  log: readonly string[],
): Error {
  return new Error(
    [
      `run ${workflowId} went wrong`,
      ...causes(error).map((line) => `  ${line}`),
      "its events:",
      ...events.map((event) => `  ${eventLine(event)}`),
      "the workers' log:",
      ...log.slice(-200).map((line) => `  ${line}`),
    ].join("\n"),
    { cause: error },
  );
}
