// Tests that decide which branch runs: conditions of `if`, loops, `?:`, `switch`, logical expressions
// and predicates of `condition`, with the values of their operands at the last evaluation.
import type { LineTrace, TestRecord } from "../../executor/tasks/line_records.ts";
import type { SessionData } from "../session_data.ts";
import { countWhile } from "../spans.ts";
import type { SessionView } from "../view.ts";
import type { Copies } from "./copies.ts";
import type { Places } from "./places.ts";
import type { BranchTest, ConditionFacts, ConditionHandler, Place } from "./types.ts";

/** What tests are looked up in. */
export interface TestsIn {
  readonly data: SessionData;
  readonly lines: LineTrace;
  readonly places: Places;
  readonly copies: Copies;
}

export class Tests {
  readonly #in: TestsIn;
  /** By point: its evaluations, in order. */
  readonly #byPoint = new Map<number, TestRecord[]>();

  constructor(given: TestsIn) {
    this.#in = given;
    const end = given.data.tasks.at(-1)?.last ?? -1;
    for (const record of given.lines.tests) {
      if (record.at > end) continue;
      const known = this.#byPoint.get(record.point);
      if (known === undefined) this.#byPoint.set(record.point, [record]);
      else known.push(record);
    }
  }

  /** Returns the last evaluation of each test. `first`: the first activation of the task. */
  at(first: number, at: number, file?: number): BranchTest[] {
    const found: BranchTest[] = [];
    for (const records of this.#byPoint.values()) {
      const last = records[countWhile(records.length, (i) => records[i]!.at <= at) - 1];
      const test = last && this.#testOf(last, first);
      if (test !== undefined && (file === undefined || test.place.file === file)) found.push(test);
    }
    return found.sort((a, b) => a.place.line - b.place.line || a.column - b.column);
  }

  #testOf({ at, lane, point, isTrue, result, operands }: TestRecord, first: number) {
    const { places, copies, data } = this.#in;
    const [place, known] = [places.placeOf(point), places.point(point)];
    if (place === undefined || known?.test === undefined) return undefined;
    return {
      place,
      column: known.column,
      kind: known.name,
      text: known.test.text,
      isTrue,
      value: copies.of(result),
      operands: known.test.operands.map((text, i) => ({
        text,
        value: (operands[i] ?? -1) < 0 ? undefined : copies.of(operands[i]!),
      })),
      fiber: lane < 0 ? undefined : lane,
      taskEventId: data.activations[at]?.startedEventId ?? 0,
      isNew: at >= first,
    };
  }

  /** Returns the facts of the predicates of open conditions, in the order of the awaits. */
  conditions(
    { open, receive }: Pick<SessionView, "open" | "receive">,
    first: number,
    at: number,
  ): ConditionFacts[] {
    return open.flatMap(({ kind, site, fiber }) => {
      const place = kind === "condition" ? this.#in.places.ofSite(site) : undefined;
      const point = place && this.#in.places.predicateAt(place);
      const records = point === undefined ? undefined : this.#byPoint.get(point);
      if (place === undefined || records === undefined) return [];
      const count = countWhile(records.length, (i) => records[i]!.at <= at);
      const last = records[count - 1];
      const test = last && this.#testOf(last, first);
      // A true predicate has ended the wait, or belongs to another call of the same line.
      if (test === undefined || test.isTrue) return [];
      const unchangedBy = this.#unchangedBy(records.slice(0, count));
      return [{ place, fiber, test, unchangedBy, ...this.#changes(place, receive) }];
    });
  }

  /** Returns what can change the condition at a place. */
  #changes(
    place: Place,
    receive: SessionView["receive"],
  ): Pick<ConditionFacts, "variables" | "changedBy"> {
    const { places, data } = this.#in;
    const known = places.conditionAt(place);
    if (known === undefined) return { variables: undefined, changedBy: undefined };
    const { handlers = [] } = data.trace;
    const changedBy = handlers.flatMap(({ kind, name, site }): ConditionHandler[] => {
      if (kind === "query") return [];
      if (!(receive?.[`${kind}s`] ?? []).includes(name)) return [];
      const at = places.ofSite(site);
      const setting = at && places.settingAt(at);
      // A handler of another module is not examined.
      if (setting?.base !== known.base) {
        return [{ kind, name, variables: [], place: undefined, isIndirect: false }];
      }
      const own = known.handlers.find(({ point }) => point === setting.point);
      if (own === undefined) return [];
      const { variables, place: written, isIndirect } = own;
      return [{ kind, name, variables, place: written, isIndirect }];
    });
    return { variables: known.variables, changedBy };
  }

  /**
   * Returns the signals that were handled, alone in their activation, between two evaluations with
   * the same values of all operands.
   */
  #unchangedBy(records: readonly TestRecord[]): ConditionFacts["unchangedBy"] {
    const { jobs } = this.#in.data.trace;
    const { lanes, cut } = this.#in.lines;
    const isCut = new Set(cut);
    return records.flatMap((record, i) => {
      const before = records[i - 1];
      if (before === undefined || before.at !== record.at - 1) return [];
      const { operands } = record;
      const isSame = operands.length > 0 && operands.length === before.operands.length &&
        operands.every((text, k) => text >= 0 && text === before.operands[k] && !isCut.has(text));
      const [job, other] = (jobs[record.at] ?? []).filter(({ eventId }) => eventId > 0);
      if (!isSame || job?.kind !== "signalWorkflow" || other !== undefined) return [];
      const isHandled = lanes.some(({ kind, cause }) =>
        (kind === "handler" || kind === "async") && cause === job.eventId
      );
      return isHandled ? [{ name: job.name ?? "", eventId: job.eventId }] : [];
    });
  }
}
