// What a session knows of the user's code by line: the entry point of this folder. All methods take
// a position and read the recording of one replay, so stepping needs no replay.
import type { LineTrace } from "../../executor/tasks/line_records.ts";
import type { TracedJob } from "../../executor/tasks/replay_trace.ts";
import type { SessionData, SessionTask } from "../session_data.ts";
import { countWhile, OpenSpans, valueAt } from "../spans.ts";
import { readPayload, toPlainData } from "../values.ts";
import { viewAt } from "../view.ts";
import { findCauses, findJobEvent } from "./causes.ts";
import { Changes } from "./changes.ts";
import { Copies } from "./copies.ts";
import { Coverage } from "./coverage.ts";
import { Crossings } from "./crossings.ts";
import { parseExpression } from "./expression.ts";
import { findPosition, type Searched } from "./find.ts";
import { parkedAt } from "./parked.ts";
import { Places } from "./places.ts";
import { Tests } from "./tests.ts";
import type {
  BranchTest,
  Cause,
  CodeFile,
  Condition,
  ConditionFacts,
  CopiedValue,
  Crossing,
  Direction,
  FiberLane,
  LineCounts,
  LogPointValue,
  Parked,
  Place,
  PlacedCommand,
  PlacedLog,
  StateChange,
  StateOf,
  Why,
} from "./types.ts";
import { explainWait } from "./why.ts";

/** `DebugSession.code`. */
export class SessionCode {
  /** The user's modules. */
  readonly files: readonly CodeFile[];
  /** All fibers of the run, in the order in which they began. */
  readonly fibers: readonly FiberLane[];
  readonly #data: SessionData;
  readonly #lines: LineTrace;
  readonly #places: Places;
  readonly #coverage: Coverage;
  readonly #copies: Copies;
  readonly #open: OpenSpans;
  #crossings: Crossings | undefined;
  #changes: Changes | undefined;
  #tests: Tests | undefined;
  #causes: readonly Cause[] | undefined;

  constructor(data: SessionData, lines: LineTrace) {
    this.#data = data;
    this.#lines = lines;
    this.#places = new Places(lines);
    this.#coverage = new Coverage(lines, this.#places);
    this.#copies = new Copies(lines);
    const { awaits } = lines;
    this.#open = new OpenSpans(
      awaits.length,
      (i) => awaits[i]!.from,
      (i) => awaits[i]!.to < 0 ? Infinity : awaits[i]!.to,
    );
    this.files = this.#places.files;
    this.fibers = this.#fibers();
  }

  // ---------------------------------------------------------------------------------- lines

  /** Returns how often each line of a file has run: up to the position, and in its task. */
  counts(file: number, position: number): LineCounts {
    const task = this.#taskAt(position);
    return this.#coverage.counts(file, task?.first ?? 0, task?.last ?? -1);
  }

  /** Returns the events of the tasks in which a line ran, ascending. */
  runsOf(place: Place): number[] {
    return [
      ...new Set(this.#coverage.runsOf(place).flatMap((at) => this.#taskOf(at)?.eventId ?? [])),
    ];
  }

  /**
   * Returns the event of the next task in which the line runs; undefined if it does not run again.
   */
  nextRun(place: Place, position: number): number | undefined {
    const at = this.#coverage.next(place, this.#taskAt(position)?.last ?? -1);
    return at === undefined ? undefined : this.#taskOf(at)?.eventId;
  }

  /** Returns the event of the last task before that of the position in which the line ran. */
  previousRun(place: Place, position: number): number | undefined {
    const at = this.#coverage.previous(place, this.#taskAt(position)?.first ?? 0);
    return at === undefined ? undefined : this.#taskOf(at)?.eventId;
  }

  /**
   * Returns the place of a call site, "function (file:line:column)", as commands, waits and
   * problems have it; undefined outside of user code.
   */
  placeOf(site: string): Place | undefined {
    return this.#places.ofSite(site);
  }

  // --------------------------------------------------------------------------------- fibers

  /** All events that woke a fiber, in order. */
  get causes(): readonly Cause[] {
    return this.#causes ??= findCauses(this.#data, this.#lines, this.#places);
  }

  /** Returns the awaits that are open at a position. */
  parked(position: number): Parked[] {
    const all = { data: this.#data, lines: this.#lines, places: this.#places, open: this.#open };
    return parkedAt(all, this.#taskAt(position)?.last ?? -1, position);
  }

  /** Explains in a sentence why the run waits. */
  why(position: number): Why {
    const { trace, lines } = this.#data;
    const at = this.#taskAt(position)?.last ?? -1;
    // The task received all events before it.
    const arrived = lines.slice(this.#taskAt(position)?.eventId ?? 0, position).find(({ type }) =>
      MESSAGES.has(type)
    );
    let job: TracedJob | undefined;
    for (let i = at + 1; i < trace.jobs.length && job === undefined; i++) {
      job = trace.jobs[i]!.find(({ eventId }) => eventId > 0);
    }
    const next = arrived ??
      (job === undefined ? undefined : lines[findJobEvent(this.#data, job) - 1]);
    const view = viewAt(this.#data, position);
    const awaitedSignals = view.open.filter(({ kind }) => kind === "signal").flatMap(({ label }) =>
      /"(.*)"/.exec(label)?.[1] ?? []
    );
    return explainWait({
      view,
      parked: this.parked(position),
      files: this.files,
      next,
      awaitedSignals,
    });
  }

  // --------------------------------------------------------------------------------- values

  /** Returns the latest values at each line up to the position. `file`: only of this file. */
  crossings(position: number, file?: number): Crossing[] {
    const task = this.#taskAt(position);
    return this.#allCrossings.at(task?.first ?? 0, task?.last ?? -1, file);
  }

  /** Returns the last evaluation of each test up to the position. `file`: only of this file. */
  tests(position: number, file?: number): BranchTest[] {
    const task = this.#taskAt(position);
    return this.#allTests.at(task?.first ?? 0, task?.last ?? -1, file);
  }

  /** Returns the predicates of the conditions that are open at a position, with their operands. */
  conditions(position: number): ConditionFacts[] {
    const task = this.#taskAt(position);
    const view = viewAt(this.#data, position);
    return this.#allTests.conditions(view, task?.first ?? 0, task?.last ?? -1);
  }

  /**
   * Returns the variables at the last look at a line (an await, a call of the API); undefined
   * without a look.
   */
  variables(place: Place, position: number): { readonly [name: string]: CopiedValue } | undefined {
    const at = this.#taskAt(position)?.last ?? -1;
    const looks = this.#looksAt(place);
    const look = looks[countWhile(looks.length, (i) => looks[i]!.at <= at) - 1];
    return look && this.#variablesOf(look);
  }

  /**
   * Evaluates an expression over the variables at a line, for every look at it: a logpoint into the
   * past. `binding`: the variable to which the line assigns the result of its await. Looks whose
   * await has not ended are left out then.
   */
  logPoint(place: Place, text: string, binding?: string): LogPointValue[] {
    const expression = parseExpression(text);
    const looks = this.#looksAt(place);
    /** The next look at the line in the same lane. */
    const until = new Map<number, number>();
    const nexts = looks.toReversed().map(({ at, lane }) => {
      const next = until.get(lane) ?? Infinity;
      until.set(lane, at);
      return next;
    }).reverse();
    return looks.flatMap((look, i) => {
      let known = this.#variablesOf(look);
      if (binding !== undefined) {
        const result = this.#allCrossings.resultAfter(place, look, nexts[i]!);
        if (result === undefined) return [];
        known = { ...known, [binding]: result };
      }
      const at = {
        taskEventId: this.#eventOf(look.at),
        fiber: look.lane < 0 ? undefined : look.lane,
      };
      try {
        const value = expression(Object.assign(
          (name: string) => Object.hasOwn(known, name) ? { value: known[name]!.value } : undefined,
          { known: () => Object.keys(known) },
        ));
        return { ...at, value, error: undefined };
      } catch (e) {
        return { ...at, value: undefined, error: (e as Error).message };
      }
    });
  }

  /**
   * Returns all changes of a path in the published state, the state of the receive or a variable,
   * up to the position, oldest first.
   */
  changes(of: StateOf, path: readonly (string | number)[], position: number): StateChange[] {
    return this.#allChanges.of(of, path, this.#taskAt(position)?.last ?? -1);
  }

  /** Returns the last change of a value. */
  lastChange(
    of: StateOf,
    path: readonly (string | number)[],
    position: number,
  ): StateChange | undefined {
    return this.#allChanges.last(of, path, this.#taskAt(position)?.last ?? -1);
  }

  // ------------------------------------------------------------------------- commands, logs

  /** Returns the commands of the task at the position, with their lines. */
  commands(position: number): PlacedCommand[] {
    const task = this.#taskAt(position);
    if (task === undefined) return [];
    return this.#data.cache.commandsOf(this.#data, task).map((
      { kind, summary, site, eventId },
    ) => ({
      ...{ kind, summary, eventId, taskEventId: task.eventId, place: this.#places.ofSite(site) },
    }));
  }

  /** Returns the log lines up to the position. */
  logs(position: number): PlacedLog[] {
    const at = this.#taskAt(position)?.last ?? -1;
    const { logs } = this.#data.trace;
    return logs.slice(0, countWhile(logs.length, (i) => logs[i]!.from <= at)).map(
      ({ from, value: { level, message } }, i) => {
        const [point = -1, lane = -1] = this.#lines.logs[i] ?? [];
        const fiber = lane < 0 ? undefined : lane;
        return {
          level,
          message,
          place: this.#places.placeOf(point),
          fiber,
          taskEventId: this.#eventOf(from),
        };
      },
    );
  }

  // ---------------------------------------------------------------------------- breakpoints

  /**
   * Returns the next position, or the previous one, at which a condition holds; undefined without a
   * match. Throws an ExpressionError for a predicate that cannot be parsed.
   */
  findNext(position: number, direction: Direction, condition: Condition): number | undefined {
    return findPosition(this.#searched, position, direction, condition);
  }

  readonly #states = new Map<unknown, unknown>();

  get #searched(): Searched {
    const data = this.#data;
    return {
      data,
      ranIn: (place, index) => {
        const { first, last } = data.tasks[index]!;
        const next = this.#coverage.next(place, first - 1);
        return next !== undefined && next <= last;
      },
      issued: (kind, index) =>
        data.cache.commandsOf(data, data.tasks[index]!).some((command) => command.kind === kind),
      stateAt: (at) => {
        const span = valueAt(data.trace.published, at);
        if (span === undefined) return undefined;
        if (!this.#states.has(span)) {
          this.#states.set(span, toPlainData(readPayload(span.value, data.converter)));
        }
        return this.#states.get(span);
      },
      variableAt: (name, at) => {
        const seen = this.#allCrossings.variables.get(name);
        if (seen === undefined) return undefined;
        const last = seen[countWhile(seen.length, (i) => seen[i]!.at <= at) - 1];
        return last === undefined ? undefined : { value: this.#copies.of(last.text)?.value };
      },
      variableNames: () => this.#allCrossings.variables.keys(),
    };
  }

  // ------------------------------------------------------------------------------- internal

  get #allCrossings(): Crossings {
    return this.#crossings ??= new Crossings(
      this.#data,
      this.#lines,
      this.#places,
      this.#copies,
      this.#coverage,
    );
  }

  get #allTests(): Tests {
    const [data, lines] = [this.#data, this.#lines];
    return this.#tests ??= new Tests({ data, lines, places: this.#places, copies: this.#copies });
  }

  get #allChanges(): Changes {
    return this.#changes ??= new Changes(
      this.#data,
      this.#lines,
      this.#places,
      this.#copies,
      this.#allCrossings,
    );
  }

  #taskAt(position: number): SessionTask | undefined {
    const { tasks } = this.#data;
    return tasks[countWhile(tasks.length, (i) => tasks[i]!.eventId <= position) - 1];
  }

  #taskOf(at: number): SessionTask | undefined {
    const { tasks } = this.#data;
    const task = tasks[countWhile(tasks.length, (i) => tasks[i]!.first <= at) - 1];
    return task !== undefined && at <= task.last ? task : undefined;
  }

  #eventOf(at: number): number {
    return this.#data.activations[at]?.startedEventId ?? 0;
  }

  #fibers(): FiberLane[] {
    const end = this.#data.tasks.at(-1)?.last ?? -1;
    // Events after the last task are also passed to the code; their effects belong to no position.
    const begun = this.#lines.lanes.filter(({ from }) => from <= end);
    return begun.map(({ kind, name, label, parent, from, to, cause, update }, id) => ({
      ...{ id, kind, name, label, from: this.#eventOf(from) },
      cause: cause > 0 ? this.#data.links.byKey.get(`update ${update}`) ?? cause : undefined,
      parent: parent < 0 ? undefined : parent,
      to: to < 0 || to > end ? undefined : this.#eventOf(to),
    }));
  }

  #looksByLine: Map<string, LineTrace["looks"][number][]> | undefined;

  #looksAt({ file, line }: Place): readonly LineTrace["looks"][number][] {
    if (this.#looksByLine === undefined) {
      this.#looksByLine = new Map();
      const end = this.#data.tasks.at(-1)?.last ?? -1;
      for (const look of this.#lines.looks) {
        const place = this.#places.placeOf(look.point);
        if (place === undefined || look.at > end) continue;
        const key = `${place.file} ${place.line}`;
        const all = this.#looksByLine.get(key);
        if (all === undefined) this.#looksByLine.set(key, [look]);
        else all.push(look);
      }
    }
    return this.#looksByLine.get(`${file} ${line}`) ?? [];
  }

  #variablesOf({ point, texts }: LineTrace["looks"][number]): { [name: string]: CopiedValue } {
    const known: { [name: string]: CopiedValue } = {};
    this.#places.point(point)?.variables.forEach((name, i) => {
      const value = this.#copies.of(texts[i]!);
      if (value !== undefined) known[name] = value;
    });
    return known;
  }
}

const MESSAGES: ReadonlySet<string> = new Set([
  "WorkflowExecutionSignaled",
  "WorkflowExecutionCancelRequested",
]);
