// The view of a session: the controls, the list of events, the panels. One position, many ways to move it.
import type { DebugSession } from "temporalex/debug";
import { byId, h } from "../dom.ts";
import { EventList } from "./event_list.ts";
import {
  commandsPanel,
  eventPanel,
  logPanel,
  messagesPanel,
  openPanel,
  outcomePanel,
  problemPanel,
  publishedPanel,
  sourcePanel,
} from "./panels.ts";

interface Control {
  readonly id: string;
  /** Path of its picture, 18 by 18. */
  readonly path: string;
  readonly label: string;
  readonly keys: string;
  move(session: DebugSession): unknown;
}

const CONTROLS: readonly Control[] = [
  { id: "first", path: "M3 3h2v12H3zM15 3v12L6 9z", label: "To the first event", keys: "Home", move: (s) => s.goTo(1) },
  {
    id: "back-task",
    path: "M9 3v12L1 9zM17 3v12L9 9z",
    label: "One task back",
    keys: "Shift+ArrowLeft",
    move: (s) => s.backTask(),
  },
  { id: "back", path: "M13 3v12L4 9z", label: "One event back", keys: "ArrowLeft", move: (s) => s.back() },
  { id: "forward", path: "M5 3v12l9-6z", label: "One event forward", keys: "ArrowRight", move: (s) => s.forward() },
  {
    id: "forward-task",
    path: "M1 3v12l8-6zM9 3v12l8-6z",
    label: "One task forward",
    keys: "Shift+ArrowRight",
    move: (s) => s.forwardTask(),
  },
  { id: "last", path: "M3 3v12l9-6zM13 3h2v12h-2z", label: "To the last event", keys: "End", move: (s) => s.runToEnd() },
];

function icon(path: string): SVGElement {
  const make = (name: string) => document.createElementNS("http://www.w3.org/2000/svg", name);
  const [svg, shape] = [make("svg"), make("path")];
  svg.setAttribute("viewBox", "0 0 18 18");
  svg.setAttribute("aria-hidden", "true");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg as SVGElement;
}

const KEYS: { readonly [key: string]: string } = {
  ArrowLeft: "back",
  ArrowUp: "back",
  ArrowRight: "forward",
  ArrowDown: "forward",
  Home: "first",
  End: "last",
  PageUp: "back-task",
  PageDown: "forward-task",
};

export class Stepper {
  readonly element: HTMLElement;
  readonly #session: DebugSession;
  readonly #list: EventList;
  readonly #slider: HTMLInputElement;
  readonly #where = h("p", { className: "where", id: "position" });
  readonly #said = h("p", { className: "hidden", role: "status", "aria-live": "polite", id: "said" });
  readonly #panels = h("div", { className: "panels", id: "panels" });
  readonly #buttons = new Map<string, HTMLButtonElement>();

  constructor(name: string, session: DebugSession) {
    this.#session = session;
    const goTo = (eventId: number) => this.#move(() => session.goTo(eventId));
    this.#list = new EventList(goTo);
    this.#list.show(session.events, session.problem?.eventId || (session.problem?.position ?? 0));
    this.#slider = h("input", {
      ...{ type: "range", min: 1, max: session.length, step: 1, id: "slider", "aria-label": "Position in the history" },
      onInput: () => goTo(Number(this.#slider.value)),
    });
    for (const { id, path, label, keys, move } of CONTROLS) {
      this.#buttons.set(
        id,
        h("button", {
          ...{ type: "button", id: `go-${id}`, "aria-label": label, title: `${label} (${keys})`, "aria-keyshortcuts": keys },
          onClick: () => this.#move(() => move(session)),
        }, icon(path)),
      );
    }
    this.element = h(
      "div",
      { className: "session" },
      this.#head(name),
      h(
        "div",
        { className: "controls", role: "group", "aria-label": "Steps" },
        ...this.#buttons.values(),
        this.#slider,
        this.#where,
      ),
      this.#said,
      h("div", { className: "columns" }, this.#list.element, this.#panels),
    );
    this.#draw(true);
  }

  #head(name: string): HTMLElement {
    const session = this.#session;
    const { workflowType, workflowId, length, tasks, problem, notes, warnings } = session;
    const badge = problem === undefined ? h("span", { className: "badge good", id: "verdict" }, "replays") : h("button", {
      ...{ type: "button", className: "badge bad", id: "verdict", title: "Go there" },
      onClick: () => this.#move(() => session.goToProblem()),
    }, `${problem.isDivergence ? "diverges" : "fails"} at event ${problem.position}`);
    const facts = [
      ...(workflowId === "" ? [] : [`id ${workflowId}`]),
      `${length} events`,
      `${tasks.length} task${tasks.length === 1 ? "" : "s"}`,
      name,
    ];
    const more = [...notes, ...warnings.map(({ message }) => message)];
    return h(
      "div",
      { className: "head" },
      h("h2", { id: "session-title", tabindex: -1 }, workflowType, " ", badge),
      h("p", { className: "fine" }, facts.join(" · ")),
      h(
        "p",
        { className: "fine keys" },
        ...[["←"], " ", ["→"], " one event · ", ["Shift"], " with them one task · ", ["Home"], " ", ["End"]].map((part) =>
          typeof part === "string" ? part : h("kbd", {}, part[0])
        ),
      ),
      ...more.map((text) => h("p", { className: "fine note" }, text)),
    );
  }

  /** Takes keys from anywhere in the page that has no better use for them. Answers whether it did. */
  key(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return false;
    const target = event.target as HTMLElement;
    if (target.closest("input, select, textarea, [contenteditable]") !== null) return false;
    const inText = target.closest("pre, .source") !== null;
    const named = KEYS[event.key];
    // Texts that scroll keep the keys that scroll them, and arrows up and down belong to the page outside of the list.
    if (named === undefined || (inText && !/^Arrow(Left|Right)$/.test(event.key))) return false;
    if (/^Arrow(Up|Down)$/.test(event.key) && target.closest("#events") === null) return false;
    const id = event.shiftKey ? { back: "back-task", forward: "forward-task" }[named] ?? named : named;
    event.preventDefault();
    this.#move(() => CONTROLS.find((control) => control.id === id)!.move(this.#session));
    return true;
  }

  /** Puts the focus where the arrow keys step. */
  focus(): void {
    this.#list.element.focus({ preventScroll: true });
    this.#list.moveTo(this.#session.position);
  }

  #move(move: () => unknown): void {
    move();
    this.#draw(false);
  }

  #draw(first: boolean): void {
    const session = this.#session;
    const { view } = session;
    const { position, length, event, task, problem } = view;
    const goTo = (eventId: number) => {
      this.#move(() => session.goTo(eventId));
      byId("events").focus({ preventScroll: true });
    };
    this.#list.moveTo(position);
    this.#slider.value = String(position);
    const text = `event ${position} of ${length}`;
    this.#slider.setAttribute("aria-valuetext", text);
    const code = problem !== undefined
      ? `the code stopped at ${problem.position}`
      : task === undefined
      ? "before the first task"
      : `after task ${task.index + 1}`;
    this.#where.textContent = `${text} · ${code}`;
    if (!first) {
      this.#said.textContent = `${text}: ${event.type} ${event.summary}${problem === undefined ? "" : `. ${problem.message}`}`;
    }
    for (const id of ["first", "back", "back-task"]) this.#off(id, position === 1);
    for (const id of ["last", "forward", "forward-task"]) this.#off(id, position === length);
    const panels = [
      problem && problemPanel(problem, goTo),
      outcomePanel(view),
      publishedPanel(view, goTo),
      openPanel(view, goTo),
      commandsPanel(view, goTo),
      messagesPanel(view, goTo),
      sourcePanel(session, view),
      logPanel(view, goTo),
      eventPanel(session, view),
    ];
    this.#panels.replaceChildren(...panels.filter((part) => part !== undefined));
  }

  /** A button that is off keeps the focus: it is not taken out of the keyboard's order under one's hands. */
  #off(id: string, off: boolean): void {
    this.#buttons.get(id)!.setAttribute("aria-disabled", String(off));
  }
}
