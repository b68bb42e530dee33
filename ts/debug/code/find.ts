// Breakpoints: finds the next position, in either direction, at which a condition holds.
import type { SessionData } from "../session_data.ts";
import { countWhile } from "../spans.ts";
import { type Names, parseExpression } from "./expression.ts";
import type { Condition, ConditionScope, Direction } from "./types.ts";

/** What a search needs of a session. */
export interface Searched {
  readonly data: SessionData;
  /** Whether the line ran in the task with this index. */
  ranIn(condition: NonNullable<Condition["place"]>, task: number): boolean;
  /** Whether the task issued a command of this kind. */
  issued(kind: string, task: number): boolean;
  stateAt(at: number): unknown;
  variableAt(name: string, at: number): { readonly value: unknown } | undefined;
  variableNames(): Iterable<string>;
}

/**
 * Returns undefined without a match. Throws an ExpressionError for a predicate that cannot be
 * parsed.
 */
export function findPosition(
  searched: Searched,
  from: number,
  direction: Direction,
  condition: Condition,
): number | undefined {
  const { data } = searched;
  const length = data.events.length;
  const step = direction === "forward" ? 1 : -1;
  const holds = makePredicate(searched, condition);
  for (let position = from + step; position >= 1 && position <= length; position += step) {
    if (!atEvent(searched, position, condition)) continue;
    if (holds === undefined) return position;
    // Stops where the predicate becomes true. Other parts of the condition select the positions at
    // which it is evaluated.
    const alone = condition.place === undefined && condition.eventType === undefined &&
      condition.command === undefined &&
      condition.text === undefined;
    if (holds(position) && (!alone || position === 1 || !holds(position - 1))) return position;
  }
  return undefined;
}

/** Whether a condition holds for an event, without its predicate. */
function atEvent(
  { data, ranIn, issued }: Searched,
  position: number,
  { place, command, eventType, text }: Condition,
): boolean {
  const line = data.lines[position - 1]!;
  if (eventType !== undefined && line.type !== eventType) return false;
  if (text !== undefined && !line.summary.includes(text)) return false;
  if (place === undefined && command === undefined) return true;
  // Lines and commands belong to tasks: the search stops at the event at which the task runs.
  const index = countWhile(data.tasks.length, (i) => data.tasks[i]!.eventId < position);
  if (data.tasks[index]?.eventId !== position) return false;
  return (place === undefined || ranIn(place, index)) &&
    (command === undefined || issued(command, index));
}

/** A predicate that throws at a position (a name is not known yet) is false there. */
function makePredicate(
  searched: Searched,
  { when }: Condition,
): ((position: number) => boolean) | undefined {
  if (when === undefined) return undefined;
  const expression = typeof when === "string" ? parseExpression(when) : undefined;
  const { data } = searched;
  return (position) => {
    const task =
      data.tasks[countWhile(data.tasks.length, (i) => data.tasks[i]!.eventId <= position) - 1];
    const at = task?.last ?? -1;
    const { eventId, type, summary } = data.lines[position - 1]!;
    const event = { eventId, type, summary };
    try {
      if (expression !== undefined) {
        return Boolean(expression(namesAt(searched, at, event, position)));
      }
      return Boolean((when as (scope: ConditionScope) => boolean)({
        state: searched.stateAt(at),
        variables: Object.fromEntries(
          [...searched.variableNames()].flatMap((name) => {
            const found = searched.variableAt(name, at);
            return found === undefined ? [] : [[name, found.value]];
          }),
        ),
        ...{ event, position },
      }));
    } catch {
      return false;
    }
  };
}

function namesAt(
  searched: Searched,
  at: number,
  event: ConditionScope["event"],
  position: number,
): Names {
  return (name) =>
    searched.variableAt(name, at) ??
      (name === "state"
        ? { value: searched.stateAt(at) }
        : name === "event"
        ? { value: event }
        : name === "position"
        ? { value: position }
        : undefined);
}
