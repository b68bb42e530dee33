// The list of events. Only the rows in sight exist, so that a history of ten thousand events scrolls and steps like one of ten. It is one
// control for the keyboard: a listbox whose active option is the current position.
import type { EventLine } from "temporalex/debug";
import { clock, h } from "../dom.ts";

const ROW = 30;
const MARGIN = 8;

const CATEGORIES: readonly (readonly [RegExp, string])[] = [
  [/^WorkflowTask/, "task"],
  [/Update/, "message"],
  [/Signaled|CancelRequested$/, "message"],
  [/^Activity/, "activity"],
  [/^Timer/, "timer"],
  [/^Marker/, "marker"],
];

export const categoryOf = (type: string): string =>
  type === "WorkflowExecutionCancelRequested" ? "message" : CATEGORIES.find(([re]) => re.test(type))?.[1] ?? "workflow";

export class EventList {
  readonly element: HTMLElement;
  readonly #rows = h("div", { className: "rows", role: "presentation" });
  readonly #choose: (eventId: number) => void;
  #events: readonly EventLine[] = [];
  #problem = 0;
  #position = 1;

  constructor(choose: (eventId: number) => void) {
    this.#choose = choose;
    this.element = h("div", {
      ...{ className: "events", role: "listbox", tabindex: 0, "aria-label": "Events of the history", id: "events" },
    }, this.#rows);
    this.element.addEventListener("scroll", () => this.#draw(), { passive: true });
    this.element.addEventListener("click", (event) => {
      const row = (event.target as HTMLElement).closest<HTMLElement>("[data-event]");
      if (row !== null) this.#choose(Number(row.dataset["event"]));
    });
    new ResizeObserver(() => this.#draw()).observe(this.element);
  }

  /** `problem`: the event that the code stands against; 0: none. */
  show(events: readonly EventLine[], problem: number): void {
    this.#events = events;
    this.#problem = problem;
    this.#rows.style.height = `${events.length * ROW}px`;
  }

  moveTo(position: number): void {
    this.#position = position;
    const top = (position - 1) * ROW;
    const { scrollTop, clientHeight } = this.element;
    if (clientHeight > 0) {
      const room = Math.min(3 * ROW, (clientHeight - ROW) / 2);
      if (top < scrollTop + room) this.element.scrollTop = top - room;
      else if (top + ROW > scrollTop + clientHeight - room) this.element.scrollTop = top + ROW + room - clientHeight;
    }
    this.element.setAttribute("aria-activedescendant", `event-${position}`);
    this.#draw();
  }

  #draw(): void {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / ROW) - MARGIN);
    const last = Math.min(this.#events.length, Math.ceil((scrollTop + clientHeight) / ROW) + MARGIN);
    this.#rows.replaceChildren(...this.#events.slice(first, last).map((event) => this.#row(event)));
  }

  #row({ eventId, type, summary, timeMs }: EventLine): HTMLElement {
    const state = eventId === this.#position ? "now" : eventId < this.#position ? "past" : "future";
    const isProblem = eventId === this.#problem;
    const row = h(
      "div",
      {
        ...{
          className: `row ${state} ${categoryOf(type)}${isProblem ? " problem" : ""}`,
          role: "option",
          id: `event-${eventId}`,
        },
        ...{ "data-event": eventId, "aria-selected": state === "now" ? "true" : "false" },
        ...{ "aria-posinset": eventId, "aria-setsize": this.#events.length },
        title: `${type} ${summary}`,
      },
      h("span", { className: "id" }, eventId),
      h("span", { className: "dot", "aria-hidden": "true" }),
      h("span", { className: "type" }, type),
      h("span", { className: "summary" }, summary),
      isProblem && h("span", { className: "flag" }, "diverges"),
      timeMs !== undefined && h("span", { className: "when" }, clock(timeMs)),
    );
    row.style.transform = `translateY(${(eventId - 1) * ROW}px)`;
    return row;
  }
}
