// What is shown of a position, panel by panel. Each is made anew at every step: they are small, and nothing in them has a state of its own.
import type { CommandView, DebugSession, MessageView, OpenAwait, SessionProblem, SessionView } from "temporalex/debug";
import { brief, clock, h, json } from "../dom.ts";
import { FILES, placeOf, shownSite, textOf } from "./lines.ts";

type GoTo = (eventId: number) => void;

const eventLink = (eventId: number, goTo: GoTo, text = `event ${eventId}`): HTMLElement =>
  h("button", { type: "button", className: "link", onClick: () => goTo(eventId) }, text);

export function panel(title: string, id: string, ...children: (Node | string | undefined | false)[]): HTMLElement {
  return h(
    "section",
    { className: "panel", id, "aria-labelledby": `${id}-title` },
    h("h3", { id: `${id}-title` }, title),
    ...children,
  );
}

const none = (text: string): HTMLElement => h("p", { className: "none" }, text);

export function problemPanel(problem: SessionProblem, goTo: GoTo): HTMLElement {
  const { name, message, expected, actual, location, eventId, isDivergence, diffs } = problem;
  const title = isDivergence ? "The code and this history part here" : "The code fails here";
  return h(
    "section",
    { className: "panel problem", id: "problem", "aria-labelledby": "problem-title" },
    h("h3", { id: "problem-title" }, title),
    h(
      "dl",
      {},
      ...(eventId > 0 ? [h("dt", {}, "Event"), h("dd", {}, eventLink(eventId, goTo))] : []),
      ...(expected === "" ? [] : [h("dt", {}, "History has"), h("dd", { className: "expected" }, expected)]),
      ...(actual === "" ? [] : [h("dt", {}, "The code does"), h("dd", { className: "actual" }, actual)]),
      ...diffs.filter((diff) => diff.expected !== expected || diff.actual !== actual).flatMap((
        { field, expected: want, actual: got },
      ) => [h("dt", {}, field), h("dd", {}, `${want} in history, ${got} from the code`)]),
      ...(location === "" ? [] : [h("dt", {}, "Line"), h("dd", { className: "line" }, h("code", {}, shownSite(location)))]),
      h("dt", {}, name),
      h("dd", { className: "message" }, message),
    ),
  );
}

export function publishedPanel({ published, outcome }: SessionView, goTo: GoTo): HTMLElement {
  const title = "Published state";
  if (published === undefined) {
    return panel(title, "published", none(outcome === undefined ? "Nothing has been published yet." : "Nothing was published."));
  }
  return panel(
    title,
    "published",
    "value" in published ? json(published.value) : none(`It cannot be read: ${published.unreadable}`),
    h("p", { className: "fine" }, "since ", eventLink(published.sinceEventId, goTo)),
  );
}

const WAITS: { readonly [kind in OpenAwait["kind"]]: string } = {
  timer: "timer",
  activity: "activity",
  localActivity: "local activity",
  childStart: "child",
  childWorkflow: "child",
  externalSignal: "message",
  externalCancel: "message",
  signal: "signal",
  receive: "receive",
  receiveTimeout: "timeout",
  select: "select",
  selectTimer: "timer",
  children: "branches",
  state: "state",
};

export function openPanel(view: SessionView, goTo: GoTo): HTMLElement {
  const { open, receive, outcome, task } = view;
  const title = "The code waits for";
  if (open.length === 0) {
    const text = task === undefined ? "It has not started." : outcome !== undefined ? "Nothing: the run has ended." : "Nothing.";
    return panel(title, "open", none(text));
  }
  const items = open.slice(0, 200).map((wait) =>
    h(
      "li",
      {},
      h("span", { className: `kind ${wait.kind}` }, WAITS[wait.kind]),
      h("span", { className: "what" }, waitText(wait)),
      h("span", { className: "fine" }, whereText(wait)),
      wait.kind === "receive" && receive !== undefined && h(
        "span",
        { className: "takes" },
        receive.stopping
          ? "takes no new messages; handlers in flight end first"
          : `takes ${[...receive.updates.map((n) => `update ${n}`), ...receive.signals.map((n) => `signal ${n}`)].join(", ")}`,
      ),
      wait.endedBy !== undefined && h(
        "span",
        { className: "ended" },
        eventLink(wait.endedBy, goTo),
        " ends it: the code is told in its next task",
      ),
    )
  );
  return panel(
    title,
    "open",
    h("ul", { className: "list" }, ...items),
    open.length > items.length && none(`… and ${open.length - items.length} more`),
  );
}

function waitText({ kind, label, firesAtMs, arguments: args }: OpenAwait): string {
  const name = /"(.*)"$/.exec(label)?.[1] ?? label;
  if (kind === "activity") return `${name}(${(args ?? []).map(brief).join(", ")})`;
  if (kind === "signal") return name;
  if (kind === "receive") return "a message";
  return firesAtMs === undefined ? label : `${label} until ${clock(firesAtMs)}`;
}

const whereText = ({ fiber, site }: OpenAwait): string => site === "" ? fiber : `${fiber}, ${shownSite(site)}`;

export function commandsPanel(view: SessionView, goTo: GoTo): HTMLElement {
  const { task, commands, position, problem } = view;
  const title = task === undefined ? "Commands" : `Commands of task ${task.index + 1}`;
  if (task === undefined) return panel(title, "commands", none("No task has run yet."));
  const when = h("p", { className: "fine" }, "the task that ran at ", eventLink(task.eventId, goTo));
  if (commands.length === 0) return panel(title, "commands", none("The code asked for nothing in it."), when);
  const item = ({ kind, summary, site, eventId }: CommandView) =>
    h(
      "li",
      {},
      h("span", { className: "kind command" }, kind),
      h("span", { className: "what" }, summary),
      site !== "" && h("code", { className: "fine" }, shownSite(site)),
      eventId === undefined
        ? h("span", { className: "fine" }, "became no event")
        : problem?.eventId === eventId
        ? h("span", { className: "fine" }, "does not fit ", eventLink(eventId, goTo))
        : h("span", { className: "fine" }, eventId <= position ? "became " : "will become ", eventLink(eventId, goTo)),
    );
  const rest = commands.length - 200;
  return panel(
    title,
    "commands",
    h("ul", { className: "list" }, ...commands.slice(0, 200).map(item)),
    rest > 0 && none(`… and ${rest} more`),
    when,
  );
}

const STATES: { readonly [state in MessageView["state"]]: string } = {
  arrived: "arrived; the code is told in its next task",
  waiting: "nothing has taken it yet",
  taken: "taken",
  accepted: "accepted, being worked on",
  completed: "answered",
  failed: "failed",
};

export function messagesPanel({ messages }: SessionView, goTo: GoTo): HTMLElement {
  if (messages.length === 0) return panel("Messages", "messages", none("None so far."));
  const shown = messages.slice(-100).toReversed();
  const items = shown.map(({ kind, name, arguments: args, state, eventId, result, failure }) =>
    h(
      "li",
      {},
      h("span", { className: "kind message" }, kind === "cancelRequest" ? "cancel request" : kind),
      h(
        "span",
        { className: "what" },
        kind === "cancelRequest" ? "" : `${name}(${args.map(brief).join(", ")})`,
      ),
      h(
        "span",
        { className: "fine" },
        `${STATES[state]}${state === "completed" ? ` with ${brief(result)}` : ""}${
          failure === undefined ? "" : `: ${failure.message}`
        }, `,
        eventLink(eventId, goTo),
      ),
    )
  );
  const rest = messages.length - shown.length;
  return panel("Messages", "messages", h("ul", { className: "list" }, ...items), rest > 0 && none(`… and ${rest} before them`));
}

export function logPanel({ logs }: SessionView, goTo: GoTo): HTMLElement | undefined {
  if (logs.length === 0) return undefined;
  const items = logs.slice(-100).map(({ level, message, fields, timeMs, eventId }) =>
    h(
      "li",
      { className: level },
      h("span", { className: "kind" }, level),
      h("span", { className: "what" }, Object.keys(fields).length === 0 ? message : `${message} ${brief(fields)}`),
      h("span", { className: "fine" }, `${clock(timeMs)}, `, eventLink(eventId, goTo)),
    )
  );
  return panel("Log", "log", h("ul", { className: "list" }, ...items));
}

const OUTCOMES = {
  completed: "Completed",
  failed: "Failed",
  cancelled: "Cancelled",
  continuedAsNew: "Continued as a new run",
  terminated: "Terminated",
  timedOut: "Timed out",
} as const;

export function outcomePanel({ outcome }: SessionView): HTMLElement | undefined {
  if (outcome === undefined) return undefined;
  const { kind, value, failure } = outcome;
  return panel(
    `Outcome: ${OUTCOMES[kind].toLowerCase()}`,
    "outcome",
    failure === undefined
      ? value !== undefined && json(value)
      : h("p", {}, `${failure.type === "" ? "" : `${failure.type}: `}${failure.message}`),
  );
}

export function eventPanel(session: DebugSession, { event }: SessionView): HTMLElement {
  return panel(`Event ${event.eventId}: ${event.type}`, "event", json(session.eventDetails(event.eventId)));
}

/** The workflow's source: the lines that it is parked on, that issued this task's commands, and that diverge. */
export function sourcePanel(session: DebugSession, view: SessionView): HTMLElement | undefined {
  const file = FILES[session.workflowType];
  if (file === undefined) return undefined;
  const marks = new Map<number, "parked" | "command" | "bad">();
  const mark = (site: string, kind: "parked" | "command" | "bad") => {
    const place = placeOf(site);
    if (place?.file === file) marks.set(place.line, kind);
  };
  if (view.isInTask) { for (const { site } of view.commands) mark(site, "command"); }
  for (const { site } of view.open) mark(site, "parked");
  if (view.problem !== undefined) mark(view.problem.location, "bad");
  const words = { parked: "the code waits here", command: "issued a command in this task", bad: "diverges" };
  const lines = textOf(file).trimEnd().split("\n").map((text, i) => {
    const kind = marks.get(i + 1);
    return h(
      "li",
      { className: kind, title: kind && words[kind] },
      h("code", {}, text === "" ? " " : text),
      kind && h("span", { className: "hidden" }, ` (${words[kind]})`),
    );
  });
  const list = h("ol", { className: "source", tabindex: 0, "aria-label": `Source of ${file}` }, ...lines);
  const first = [...marks.entries()].sort(([a], [b]) => a - b).find(([, kind]) => kind !== "command")?.[0] ??
    [...marks.keys()][0];
  // After it is in the page.
  if (first !== undefined) queueMicrotask(() => list.scrollTop = Math.max(0, (first - 6) * 20));
  return panel(file.replace("examples/", ""), "source", list);
}
