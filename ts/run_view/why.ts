// Why a run waits, as sentences: what would wake it, since when, and what comes next.
import type { OpenAwait, SessionView } from "../debug/view.ts";
import type { ConditionFacts } from "../debug/code/types.ts";
import type { ShownFailure } from "../debug/values.ts";
import { areChangesKnown } from "./condition_text.ts";
import { lasting } from "./time.ts";

/** A sentence in parts; names are bold. */
export type Said = readonly (string | { readonly name: string })[];

export interface WaitingFiber {
  readonly badge: string;
  /** The full name of the fiber. */
  readonly fiber: string;
  readonly waitsFor: string;
  readonly sinceMs: number | undefined;
}

/** Received signals of one name that the waiting code does not accept. */
export interface Untaken {
  readonly name: string;
  readonly times: number;
  /** The first of these signals. */
  readonly eventId: number;
  /** The run has ended without taking them. */
  readonly hasEnded?: boolean;
}

export interface Why {
  readonly title: string;
  readonly said: Said;
  /** The next event in history; "" without one. */
  readonly next: string;
  /** Each waiting fiber, if there are several. */
  readonly fibers: readonly WaitingFiber[];
  /** Messages that the code can receive now. */
  readonly legal: readonly { readonly kind: "update" | "signal"; readonly name: string }[];
  /** A misspelled signal name often makes a run hang. */
  readonly untaken: readonly Untaken[];
  readonly look: "waits" | "ended" | "failed" | "not yet";
}

const name = (text: string) => ({ name: text });

/** Joins names in bold: "a", "a or b", "a, b or c". */
function either(parts: readonly Said[]): Said {
  return parts.flatMap((
    part,
    i,
  ) => [...(i === 0 ? [] : [i === parts.length - 1 ? " or " : ", "]), ...part]);
}

/** Above this number, message names are counted instead of listed. */
const MOST_NAMES = 6;

/** `conditions`: facts of the open conditions, from the code. */
export function whyText(
  view: SessionView,
  nextText: string,
  conditions: readonly ConditionFacts[] = [],
): Why {
  const { outcome, task, receive } = view;
  const open = view.open.filter(({ isNotInHistory }) => isNotInHistory !== true);
  const extra = view.open.filter(({ isNotInHistory }) => isNotInHistory === true);
  const none = { fibers: [], legal: [], untaken: [] };
  if (
    outcome !== undefined && (outcome.eventId === undefined || outcome.eventId <= view.position)
  ) {
    const isFailed = outcome.kind === "failed" || outcome.kind === "timedOut" ||
      outcome.kind === "terminated";
    return {
      title: "Outcome",
      said: endText(outcome.kind, outcome.failure),
      next: "",
      ...none,
      untaken: untakenOf(view.messages, []).map((one) => ({ ...one, hasEnded: true })),
      look: isFailed ? "failed" : "ended",
    };
  }
  if (task === undefined) {
    return {
      title: "Before the first task",
      said: ["No code has run yet. The first workflow task starts it."],
      next: nextText,
      ...none,
      look: "not yet",
    };
  }
  const updates = receive?.updates ?? [];
  const signals = receive?.signals ?? [];
  const legal = receive?.stopping === true ? [] : [
    ...updates.map((name) => ({ kind: "update" as const, name })),
    ...signals.map((name) => ({ kind: "signal" as const, name })),
  ];
  const timeouts = timeoutsOf(open);
  const fibers = open.filter((one) => !timeouts.has(one)).map((one, i): WaitingFiber => ({
    badge: /^(?:run\b|workflow ")/.test(one.fiber) ? "run" : String(i + 1),
    fiber: one.fiber,
    waitsFor: one.kind === "receive" && legal.length > 0
      ? legal.map(({ name }) => name).join(", ")
      : one.label,
    sinceMs: undefined,
  }));
  const untaken = untakenOf(view.messages, signals);
  if (open.length === 0 && extra.length > 0) {
    return {
      title: "Why does it wait?",
      said: extraText(extra),
      next: nextText,
      ...none,
      untaken,
      look: "waits",
    };
  }
  if (open.length === 0) {
    return {
      title: "Why does it wait?",
      said: ["The history has no open item that it waits for."],
      next: nextText,
      ...none,
      untaken,
      look: "waits",
    };
  }
  return {
    title: fibers.length > 1 ? "What does each fiber wait for?" : "Why does it wait?",
    said: [
      ...waitText({ ...view, open }, timeouts, areNamed(open, conditions) ? [] : legal),
      ...(extra.length === 0 ? [] : [" ", ...extraText(extra)]),
    ],
    next: nextText,
    fibers: fibers.length > 1 ? fibers : [],
    legal,
    untaken,
    look: "waits",
  };
}

/**
 * Whether the sentences about the conditions name the messages that can resume the run: conditions
 * are all that waits for messages, and their handlers are known.
 */
function areNamed(open: readonly OpenAwait[], conditions: readonly ConditionFacts[]): boolean {
  const waiting = open.filter(({ kind }) => kind === "condition");
  return waiting.length > 0 && waiting.length === conditions.length &&
    areChangesKnown(conditions) && !open.some(({ kind }) => TAKES_MESSAGES.has(kind));
}

/** Waits that a message can end. */
const TAKES_MESSAGES: ReadonlySet<OpenAwait["kind"]> = new Set([
  "receive",
  "receiveTimeout",
  "select",
  "signal",
  "state",
]);

/** Describes waits for commands that the recorded run never sent. */
function extraText(extra: readonly OpenAwait[]): Said {
  const names = distinct(extra.map(namedLabel));
  const list = names.flatMap((each, i): Said => i === 0 ? each : [", ", ...each]);
  return ["This code waits for ", ...list, ". No event of the recorded run can end that wait."];
}

/** Timers of conditions with a timeout: the two are one await. */
function timeoutsOf(open: readonly OpenAwait[]): ReadonlySet<OpenAwait> {
  return new Set(open.filter((one, i) => {
    const after = open[i + 1];
    return one.kind === "timer" && after?.kind === "condition" && after.fiber === one.fiber;
  }));
}

function untakenOf(
  messages: SessionView["messages"],
  taken: readonly string[],
): readonly Untaken[] {
  const all = new Map<string, Untaken>();
  for (const { kind, name, state, eventId } of messages) {
    if (kind !== "signal" || state !== "waiting" || taken.includes(name)) continue;
    const known = all.get(name);
    all.set(
      name,
      known === undefined ? { name, times: 1, eventId } : { ...known, times: known.times + 1 },
    );
  }
  return [...all.values()];
}

/**
 * The words around the event: `Signal **confirm** was received (`, `event 34`, `), but nothing
 * accepts it at this point of the code.`
 */
export function untakenText(
  { name: of, times, hasEnded = false }: Untaken,
): { readonly before: Said; readonly after: string } {
  const [often, it] = times === 1
    ? ["", "it"]
    : [times === 2 ? "twice, " : `${times} times, `, "them"];
  return {
    before: ["Signal ", name(of), ` was received (${often}`],
    after: `${times === 1 ? "" : " first"}), but ${
      hasEnded
        ? `no code took ${it} before the end`
        : `nothing accepts ${it} at this point of the code`
    }.`,
  };
}

function waitText(
  { open, receive, event }: SessionView,
  timeouts: ReadonlySet<OpenAwait>,
  legal: Why["legal"],
): Said {
  const isStopping = receive?.stopping === true;
  const ready = open.filter(({ endedBy }) => endedBy !== undefined);
  if (ready.length === open.length) {
    return ["All awaited results are available. The code resumes in the next workflow task."];
  }
  const messages: Said[] = legal.length > MOST_NAMES
    ? [[`one of ${legal.length} messages`]]
    : legal.map(({ kind, name: of }) => [`${kind} `, name(of)]);
  const others = open.filter(({ kind }) => kind !== "receive" && kind !== "receiveTimeout");
  const timers = open.filter(({ kind }) => /timer|timeout/i.test(kind)).length;
  const activities = open.filter(({ kind }) => /activity/i.test(kind)).length;
  // Handlers of `setHandler` run during every await, and resume only one that depends on them.
  const isResuming = open.some(({ kind }) => RESUMED_BY_MESSAGES.has(kind));
  const handled = isResuming || messages.length === 0
    ? []
    : [" ", ...capital(either(messages)), " is handled when it arrives."];
  const wakers: Said[] = [
    ...(isResuming ? messages : []),
    ...distinct(wakersOf(others, timeouts, event.timeMs)),
  ];
  if (wakers.length === 0) {
    return [
      isStopping
        ? "It accepts no new messages and waits for its handlers to finish"
        : open.map(({ label }) => label).join(", "),
      ".",
    ];
  }
  const never = [
    ...(timers === 0 ? ["no timer runs"] : []),
    ...(activities === 0 ? ["no activity is open"] : []),
  ];
  return capital([
    ...either(wakers),
    " would wake it",
    never.length === 2 ? `, and nothing else: ${never.join(", ")}.` : ".",
    ...handled,
  ]);
}

/** Kinds of awaits that a message can end. */
const RESUMED_BY_MESSAGES: ReadonlySet<OpenAwait["kind"]> = new Set([
  ...["receive", "receiveTimeout", "condition", "signal", "select", "selectTimer"] as const,
]);

/** Lists what would resume the run; timers come last. */
function wakersOf(
  open: readonly OpenAwait[],
  timeouts: ReadonlySet<OpenAwait>,
  nowMs: number | undefined,
): Said[] {
  const timers = open.filter(({ kind, firesAtMs }) => kind === "timer" && firesAtMs !== undefined);
  return [
    ...open.filter((one) => !timers.includes(one)).map(wakerOf),
    ...timers.map((one) => {
      const left = one.firesAtMs! - (nowMs ?? NaN);
      const due = Number.isNaN(left) ? "" : left > 0 ? ` (due in ${lasting(left)})` : " (due)";
      return timeouts.has(one) ? [`its timeout${due}`] : [...wakerOf(one), due];
    }),
  ];
}

/** Formats `activity "charge"` as: the result of activity **charge**. */
function wakerOf({ kind, label }: OpenAwait): Said {
  if (kind === "condition") return ["a change that makes its condition true"];
  const named = namedLabel({ label });
  return /activity/i.test(kind) ? ["the result of ", ...named] : named;
}

/** Formats `activity "charge"` with its name in bold. */
function namedLabel({ label }: Pick<OpenAwait, "label">): Said {
  const quoted = /^(.*?)"([^"]*)"(.*)$/.exec(label);
  return quoted === null ? [label] : [quoted[1]!, name(quoted[2]!), quoted[3]!];
}

function distinct(all: readonly Said[]): Said[] {
  const seen = new Map<string, { said: Said; times: number }>();
  for (const said of all) {
    const key = JSON.stringify(said);
    const known = seen.get(key);
    if (known === undefined) seen.set(key, { said, times: 1 });
    else known.times++;
  }
  return [...seen.values()].map(({ said, times }) =>
    times === 1 ? said : [...said, ` (${times} times)`]
  );
}

const capital = ([first, ...rest]: Said): Said =>
  typeof first === "string"
    ? [first.charAt(0).toUpperCase() + first.slice(1), ...rest]
    : [first!, ...rest];

const ENDS = {
  completed: "The run completed",
  failed: "The run failed",
  cancelled: "The run was canceled",
  continuedAsNew: "The run continued as new",
  terminated: "The run was terminated",
  timedOut: "The run timed out",
} as const;

/** Maximum number of causes in a sentence. */
const MOST_CAUSES = 5;

function endText(kind: keyof typeof ENDS, failure: ShownFailure | undefined): Said {
  if (failure === undefined) return [`${ENDS[kind]}.`];
  const parts: Said[] = [];
  for (
    let at: ShownFailure | undefined = failure;
    at !== undefined && parts.length < MOST_CAUSES;
    at = at.cause
  ) {
    const type = at.type.replace(/^[a-z](?=\w*Failure$)/, (first) => first.toUpperCase());
    parts.push([name(type || "an error"), `: ${at.message}`]);
  }
  return [
    `${ENDS[kind]} with `,
    ...parts.flatMap((part, i) => i === 0 ? part : [", caused by ", ...part]),
  ];
}
