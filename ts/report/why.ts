// Why the run waits where it stands, in sentences made from data: what would wake it, since when, what comes next.
import type { OpenAwait, SessionView } from "../debug/view.ts";

/** A sentence in pieces; names are set in bold. */
export type Said = readonly (string | { readonly name: string })[];

export interface WaitingFiber {
  readonly badge: string;
  /** Its full name. */
  readonly fiber: string;
  readonly waitsFor: string;
  readonly sinceMs: number | undefined;
}

export interface Why {
  readonly title: string;
  readonly said: Said;
  /** What comes next in history; "" where nothing does. */
  readonly next: string;
  /** More than one: who waits for what. */
  readonly fibers: readonly WaitingFiber[];
  /** What is legal to send now. */
  readonly legal: readonly { readonly kind: "update" | "signal"; readonly name: string }[];
  readonly look: "waits" | "ended" | "failed" | "not yet";
}

const name = (text: string) => ({ name: text });

/** "a", "a or b", "a, b or c", each in bold. */
function either(parts: readonly Said[]): Said {
  return parts.flatMap((part, i) => [...(i === 0 ? [] : [i === parts.length - 1 ? " or " : ", "]), ...part]);
}

/** Above this the names of messages are counted instead. */
const MOST_NAMES = 6;

export function whyOf(view: SessionView, nextText: string): Why {
  const { outcome, task, open, receive } = view;
  const none = { fibers: [], legal: [] };
  if (outcome !== undefined && (outcome.eventId === undefined || outcome.eventId <= view.position)) {
    const isFailed = outcome.kind === "failed" || outcome.kind === "timedOut" || outcome.kind === "terminated";
    return {
      title: "How it ended",
      said: endText(outcome.kind, outcome.failure),
      next: "",
      ...none,
      look: isFailed ? "failed" : "ended",
    };
  }
  if (task === undefined) {
    return {
      title: "Before the first task",
      said: ["No code has run yet. Its first workflow task starts it."],
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
  const fibers = open.map((one, i): WaitingFiber => ({
    badge: /^run\b/.test(one.fiber) ? "run" : String(i + 1),
    fiber: one.fiber,
    waitsFor: one.kind === "receive" && legal.length > 0 ? legal.map(({ name }) => name).join(", ") : one.label,
    sinceMs: undefined,
  }));
  if (open.length === 0) {
    return {
      title: "Why does it wait?",
      said: ["It waits for nothing that history shows."],
      next: nextText,
      ...none,
      look: "waits",
    };
  }
  return {
    title: open.length > 1 ? "Who waits for what?" : "Why does it wait?",
    said: waitText(open, legal, receive?.stopping === true),
    next: nextText,
    fibers: open.length > 1 ? fibers : [],
    legal,
    look: "waits",
  };
}

function waitText(open: readonly OpenAwait[], legal: Why["legal"], isStopping: boolean): Said {
  const ready = open.filter(({ endedBy }) => endedBy !== undefined);
  if (ready.length === open.length) return ["What it waits for has come. It goes on in its next workflow task."];
  const messages: Said[] = legal.length > MOST_NAMES
    ? [[`one of ${legal.length} messages`]]
    : legal.map(({ kind, name: of }) => [`${kind} `, name(of)]);
  const others = open.filter(({ kind }) => kind !== "receive" && kind !== "receiveTimeout");
  const timers = open.filter(({ kind }) => /timer|timeout/i.test(kind)).length;
  const activities = open.filter(({ kind }) => /activity/i.test(kind)).length;
  const wakers: Said[] = [...messages, ...distinct(others.map(wakerOf))];
  if (wakers.length === 0) {
    return [
      isStopping ? "It takes no new messages and waits for its handlers to end." : open.map(({ label }) => label).join(", "),
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
  ]);
}

/** `activity "charge"` as: the result of activity **charge**. */
function wakerOf({ kind, label }: OpenAwait): Said {
  const quoted = /^(.*?)"([^"]*)"(.*)$/.exec(label);
  const named: Said = quoted === null ? [label] : [quoted[1]!, name(quoted[2]!), quoted[3]!];
  return /activity/i.test(kind) ? ["the result of ", ...named] : named;
}

function distinct(all: readonly Said[]): Said[] {
  const seen = new Map<string, { said: Said; times: number }>();
  for (const said of all) {
    const key = JSON.stringify(said);
    const known = seen.get(key);
    if (known === undefined) seen.set(key, { said, times: 1 });
    else known.times++;
  }
  return [...seen.values()].map(({ said, times }) => times === 1 ? said : [...said, ` (${times} times)`]);
}

const capital = ([first, ...rest]: Said): Said =>
  typeof first === "string" ? [first.charAt(0).toUpperCase() + first.slice(1), ...rest] : [first!, ...rest];

const ENDS = {
  completed: "The run completed",
  failed: "The run failed",
  cancelled: "The run was cancelled",
  continuedAsNew: "The run continued as a new run",
  terminated: "The run was terminated",
  timedOut: "The run timed out",
} as const;

function endText(kind: keyof typeof ENDS, failure: { readonly type: string; readonly message: string } | undefined): Said {
  if (failure === undefined) return [`${ENDS[kind]}.`];
  return [`${ENDS[kind]} with `, name(failure.type || "an error"), `: ${failure.message}`];
}
