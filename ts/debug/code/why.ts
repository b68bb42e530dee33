// Explains in one sentence why a run waits: the line, what would wake it, since when, and which
// messages it accepts.
import type { EventLine } from "../events.ts";
import type { SessionView } from "../view.ts";
import type { CodeFile, Parked, Place, Why } from "./types.ts";

/** The input of the sentence. */
export interface WhyFacts {
  readonly view: Pick<SessionView, "outcome" | "receive" | "task" | "problem">;
  readonly parked: readonly Parked[];
  readonly files: readonly CodeFile[];
  /** The next event that the code receives. */
  readonly next: EventLine | undefined;
  /** Signals that the code awaits by name, outside of a receive. */
  readonly awaitedSignals: readonly string[];
}

const ENDED: { readonly [kind: string]: string } = {
  completed: "It has completed",
  failed: "It has failed",
  cancelled: "It was canceled",
  continuedAsNew: "It has continued as a new run",
  terminated: "It was terminated",
  timedOut: "It has timed out",
};

export function explainWait({ view, parked, files, next, awaitedSignals }: WhyFacts): Why {
  const { outcome, receive, task, problem } = view;
  const takes = {
    signals: [...new Set([...receive?.signals ?? [], ...awaitedSignals])],
    updates: [...receive?.updates ?? []],
    anySignal: true,
  };
  const said = {
    parked,
    takes,
    next: next && { eventId: next.eventId, type: next.type, summary: next.summary },
  };
  if (outcome !== undefined) {
    const where = outcome.eventId === undefined ? "" : ` (event ${outcome.eventId})`;
    return { ...said, sentence: `${ENDED[outcome.kind]}${where}: it waits for nothing.` };
  }
  if (task === undefined) {
    return { ...said, sentence: "No workflow task has run yet: the code has not started." };
  }
  if (problem !== undefined && !problem.isDivergence && parked.length === 0) {
    return { ...said, sentence: `Its task fails: ${problem.message}` };
  }
  const inner = parked.filter(({ isOuter }) => !isOuter);
  if (inner.length === 0) return { ...said, sentence: "Cannot determine what the code waits for." };
  const sentences = inner.map((each) => formatSentence(each, files, takes));
  return { ...said, sentence: sentences.join(" ") };
}

function formatSentence(parked: Parked, files: readonly CodeFile[], takes: Why["takes"]): string {
  const { fiberName, place, since, firesAtMs, endedBy } = parked;
  const who = fiberName === "" ? "The code" : fiberName[0]!.toUpperCase() + fiberName.slice(1);
  const due = firesAtMs === undefined ? "" : ` (due ${new Date(firesAtMs).toISOString()})`;
  const over = endedBy === undefined
    ? ""
    : ` Event ${endedBy} resolved this: the code resumes with the next workflow task.`;
  return `${who} waits${placeText(place, files)} for ${
    describeWait(parked, takes)
  }${due}, since event ${since}.${over}`;
}

function placeText(place: Place | undefined, files: readonly CodeFile[]): string {
  if (place === undefined) return "";
  const name = files.length > 1 ? ` of ${files[place.file]?.name.split("/").at(-1) ?? ""}` : "";
  return ` at line ${place.line}${name}`;
}

function describeWait({ kind, label, wokenBy }: Parked, takes: Why["takes"]): string {
  if (kind === "receive") {
    const messages = [
      ...takes.updates.map((name) => `update ${name}`),
      ...takes.signals.map((name) => `signal ${name}`),
    ];
    return messages.length === 0 ? "handlers that are running" : listed(messages);
  }
  if (kind === "condition") return "a condition to become true";
  return /^the (?:result|end|start|delivery) of /.test(wokenBy) ? wokenBy : label;
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
