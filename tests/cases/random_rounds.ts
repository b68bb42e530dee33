// A random program in rounds, run twice: by a service that never suggests to continue as new, and
// by one that does now and then. The only visible difference is where it continued.
import type { Payload } from "../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";
import { defaultPayloadConverter } from "../../ts/converter/mod.ts";
import { deepEqual, equal } from "./assert.ts";
import { type Drive, drive, makeRunner } from "./driver.ts";
import type { HeaderFields, PendingActivity } from "./mini_server.ts";
import { rounds, type Step } from "./random_interpreter.ts";
import { type Concrete, happen, LAST } from "./random_lives.ts";
import type { Happening } from "./random_programs.ts";

/**
 * What always differs between runs: values of the run's generator, and state that is published in
 * addition to the carried one.
 */
const plain = (steps: Step[]): Step[] =>
  JSON.parse(
    JSON.stringify(steps),
    (_, value) => value?.op === "random" || value?.op === "publish" ? { op: "side" } : value,
  );

/** Which round an activity is of, by the label that it is called with. */
const roundOf = ({ args }: PendingActivity): number =>
  Number(/^run\.[a-z]+(\d+)/.exec(String(args[0]))?.[1] ?? Infinity);

/**
 * The open operations of this run. The next run does not know what the previous one canceled, nor
 * what an earlier round left running: clean-up of an arm that lost, a shield.
 */
function chosen({ server }: Drive, happening: Happening, index: number): Concrete | undefined {
  const nth = <T>(all: T[], pick: number): T | undefined => all[pick % Math.max(1, all.length)];
  if (happening.kind === "timer") {
    const id = nth([...server.timers.keys()], happening.pick);
    return id === undefined ? undefined : { kind: "timer", id };
  }
  if (happening.kind === "activity") {
    const open = [...server.activities.values()].filter((each) => !each.cancelRequested);
    const last = Math.max(...open.map(roundOf));
    const one = nth(open.filter((each) => roundOf(each) === last), happening.pick);
    if (one === undefined) return undefined;
    const ends = one.type.startsWith("procedure:") && happening.ends !== undefined
      ? { ends: happening.ends }
      : {};
    return { kind: "activity", id: one.id, fails: happening.fails, cancelled: false, ...ends };
  }
  return happening.kind === "update" ? { ...happening, id: `update-${index}` } : happening;
}

/** A service gives the next run the search attributes of the one before. */
function attributesOf({ server }: Drive): { [name: string]: Payload } {
  const now: { [name: string]: Payload } = {};
  for (const { attributes: at } of server.events) {
    if (
      at.case !== "workflowExecutionStartedEventAttributes" &&
      at.case !== "upsertWorkflowSearchAttributesEventAttributes"
    ) {
      continue;
    }
    for (const [name, payload] of Object.entries(at.value.searchAttributes?.indexedFields ?? {})) {
      if ((defaultPayloadConverter.fromPayload(payload) ?? null) === null) delete now[name];
      else now[name] = payload;
    }
  }
  return now;
}

class Loop {
  readonly runs: Drive[] = [];
  readonly #suggests: (task: number) => boolean;
  readonly #parts;
  readonly #cached: boolean;
  /** Updates that a run was sent and has not taken. */
  #waiting = new Map<string, { name: string; n: number }>();
  #tasks = 0;

  constructor(
    parts: Awaited<ReturnType<typeof makeRunner>>,
    cached: boolean,
    suggests: (task: number) => boolean,
  ) {
    this.#parts = parts;
    this.#cached = cached;
    this.#suggests = suggests;
  }

  get now(): Drive {
    return this.runs.at(-1)!;
  }

  async begin(args: unknown[], headers: HeaderFields = {}): Promise<void> {
    const runId = `${String(this.runs.length).padStart(8, "0")}-2222-4333-8444-555555555555`;
    const started = {
      searchAttributes: { indexedFields: this.runs.length === 0 ? {} : attributesOf(this.now) },
    };
    this.runs.push(
      await drive(rounds, {
        args,
        headers,
        runId,
        started,
        runner: this.#parts,
        cached: this.#cached,
      }),
    );
    for (const [id, { name, n }] of this.#waiting) this.now.server.update(id, name, n);
    await this.task();
  }

  async task(): Promise<void> {
    const { server } = this.now;
    // An update that waits is taken by the next run after the signals that wait: there the order
    // would be another one.
    server.suggestsContinueAsNew = this.#waiting.size === 0 && this.#suggests(this.#tasks++);
    await this.now.task();
    equal(server.taskFailure, undefined, `task failed: ${server.taskFailure?.failure.message}`);
    for (const { id, stage } of server.updates.values()) {
      if (stage !== "sent") this.#waiting.delete(id);
    }
    if (server.closed === undefined) return;
    await this.now.checkReplay();
    const { next } = server.closed;
    if (next !== undefined && this.runs.length < 40) await this.begin(next.args, next.headers);
  }

  async live(happenings: readonly Happening[]): Promise<void> {
    for (const [i, happening] of happenings.entries()) {
      if (this.now.server.closed !== undefined) return;
      const event = chosen(this.now, happening, i);
      if (event === undefined) continue;
      if (event.kind === "update") this.#waiting.set(event.id, event);
      happen(this.now.server, event, event.kind === "activity" ? `answer ${i}` : undefined);
      await this.task();
    }
  }

  /**
   * The visible outcome: its end, and the results of updates. Ids of activities are counted in each
   * run.
   */
  outcome(): unknown {
    const { closed } = this.now.server;
    const received = this.runs.flatMap(({ server }) => [...server.updates.values()]).filter((
      { stage },
    ) => stage !== "sent");
    const all = {
      closed: closed === undefined ? "open" : [closed.kind, closed.result, closed.failure?.message],
      updates: received.map((u) => [u.id, u.stage, u.result, u.failure?.message]),
    };
    return JSON.parse(JSON.stringify(all).replace(/\b(activity|no) \d+/g, "$1 ?"));
  }
}

/** How often loops have continued as new, of all that were lived. */
export const continued = { runs: 0 };

/** Lives the program in rounds with suggestions and without. */
export async function loops(
  steps: Step[],
  happenings: Happening[],
  suggestions: boolean[],
  cached: boolean,
): Promise<void> {
  const program = plain(steps);
  const life = [...happenings, ...Array.from({ length: 60 }, () => LAST).flat()];
  const lived = async (suggests: (task: number) => boolean): Promise<Loop> => {
    const loop = new Loop(await makeRunner([rounds]), cached, suggests);
    await loop.begin([program]);
    await loop.live(life);
    return loop;
  };
  const whole = await lived(() => false);
  const cut = await lived((task) => suggestions[task % suggestions.length]!);
  continued.runs += cut.runs.length - whole.runs.length;
  deepEqual(
    cut.outcome(),
    whole.outcome(),
    `${cut.runs.length} runs, ${whole.runs.length} without suggestions`,
  );
}
