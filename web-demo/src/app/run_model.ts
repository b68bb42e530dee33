// A history without code, as the page's parts see it.
import { type EventLine, readHistoryFile } from "temporalex/debug";

/** Kinds of things in a history. */
export type ItemKind =
  | ("run" | "activity" | "localActivity" | "timer" | "signal" | "update" | "child" | "external" | "nexus")
  | ("marker" | "searchAttributes" | "task" | "unknown");

/** One thing that happened: an activity with all of its events, a message, a workflow task. */
export interface RunItem {
  readonly index: number;
  readonly kind: ItemKind;
  readonly name: string;
  /** Ids of its events, in order. */
  readonly eventIds: readonly number[];
  /** The first and the last of them. */
  readonly from: number;
  readonly to: number;
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
}

/** A history, as data. */
export interface RunModel {
  readonly facts: {
    readonly type: string;
    readonly id: string;
    readonly runId: string;
    readonly status: string;
    readonly startMs: number | undefined;
    readonly endMs: number | undefined;
  };
  readonly tasks: readonly { readonly eventId: number }[];
  readonly items: readonly RunItem[];
  readonly lines: readonly EventLine[];
  /** What was done to the file that is worth knowing. */
  readonly notes: readonly string[];
  itemOf(eventId: number): RunItem | undefined;
}

const KINDS: readonly (readonly [RegExp, ItemKind])[] = [
  [/^WorkflowTask/, "task"],
  [/Update/, "update"],
  [/^WorkflowExecutionSignaled/, "signal"],
  [/^Activity/, "activity"],
  [/^Timer/, "timer"],
  [/Marker/, "marker"],
  [/ChildWorkflow/, "child"],
  [/External/, "external"],
  [/^Nexus/, "nexus"],
  [/SearchAttributes|Properties/, "searchAttributes"],
  [/^WorkflowExecution/, "run"],
];

/** Reads a file. Rejects with a HistoryFileError for one that holds no history. */
export async function readRun(bytes: Uint8Array): Promise<RunModel> {
  const { readHistoryLines } = await import("./history_lines.ts");
  const file = await readHistoryFile(bytes);
  const lines = readHistoryLines(file.bytes);
  const items = lines.map(({ eventId, type, timeMs, summary }, index): RunItem => ({
    index,
    kind: KINDS.find(([re]) => re.test(type))?.[1] ?? "unknown",
    name: summary === "" ? type : `${type} ${summary}`,
    eventIds: [eventId],
    from: eventId,
    to: eventId,
    startMs: timeMs,
    endMs: timeMs,
  }));
  return {
    facts: {
      type: file.workflowType,
      id: file.workflowId,
      runId: file.runId,
      status: /^WorkflowExecution(Completed|Failed|Canceled|Terminated|TimedOut|ContinuedAsNew)$/.exec(lines.at(-1)!.type)?.[1] ??
        "Running",
      startMs: lines[0]?.timeMs,
      endMs: lines.at(-1)?.timeMs,
    },
    tasks: lines.filter(({ type }) => type === "WorkflowTaskStarted"),
    items,
    lines,
    notes: file.notes,
    itemOf: (eventId) => items[eventId - 1],
  };
}
