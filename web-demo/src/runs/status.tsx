// The status of a run: a sign and a word, the same in all parts.
import type { JSX } from "preact";
import type { WorkflowStatus } from "temporalex/client";

/** In the order of the counts. */
export const STATUSES: readonly (readonly [WorkflowStatus, string, string])[] = [
  ["RUNNING", "Running", "Running"],
  ["COMPLETED", "Completed", "Completed"],
  ["FAILED", "Failed", "Failed"],
  ["CANCELED", "Canceled", "Canceled"],
  ["TERMINATED", "Terminated", "Terminated"],
  ["TIMED_OUT", "Timed out", "TimedOut"],
  ["CONTINUED_AS_NEW", "Continued as new", "ContinuedAsNew"],
];

export const statusLabel = (status: WorkflowStatus): string =>
  STATUSES.find(([name]) => name === status)?.[1] ?? "Unknown";

const stroke = (d: string) => (
  <path
    d={d}
    fill="none"
    stroke="currentColor"
    stroke-width="2"
    stroke-linecap="round"
    stroke-linejoin="round"
  />
);
const SIGNS: { readonly [status: string]: readonly [className: string, shape: () => JSX.Element] } =
  {
    RUNNING: ["", () => <circle cx="8" cy="8" r="4" fill="currentColor" />],
    COMPLETED: ["k-ok", () => stroke("m3 8.5 3.4 3.5L13 4.5")],
    FAILED: ["k-red", () => stroke("m4 4 8 8m0-8-8 8")],
    TIMED_OUT: ["k-red", () => stroke("M4 2.5h8M4 13.5h8M5 3c0 5 6 5 6 10M11 3c0 5-6 5-6 10")],
    TERMINATED: ["k-red", () => <rect x="4" y="4" width="8" height="8" fill="currentColor" />],
    CANCELED: [
      "k-task",
      () => <circle cx="8" cy="8" r="4.2" fill="none" stroke="currentColor" stroke-width="1.8" />,
    ],
    CONTINUED_AS_NEW: ["k-task", () => stroke("M3 8h9M8.5 4 12.5 8l-4 4")],
  };

export function StatusSign({ status }: { status: WorkflowStatus }): JSX.Element {
  const [className, shape] = SIGNS[status] ?? SIGNS["CANCELED"]!;
  return (
    <svg class={`glyph ${className}`} viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
      {shape()}
    </svg>
  );
}
