// Debug sessions over the seven examples, in worker realms and in this thread: what a session shows
// at each position is what history says, whichever way the position was reached; and histories that
// are damaged, foreign or of other code say so by name.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  openSession,
  prepareHistory,
  type ReplayingRealm,
  type SessionView,
} from "../../ts/debug/mod.ts";
import type { PayloadCodec } from "../../ts/codec/codec.ts";
import {
  type HistoryEvent,
  HistorySchema,
} from "../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { openWorkerRealm, type WorkerRealm } from "../../ts/realm/worker_realm.ts";
import {
  noreply,
  on,
  receive,
  signal,
  sleep,
  spawnAsync,
  workflow,
} from "../../ts/workflow/mod.ts";
import { batchProcess } from "../../examples/batch_process/workflow.ts";
import { deepEqual, equal, match, ok, rejects, throws } from "./assert.ts";
import type { Case } from "./case.ts";
import { commandWords, known, wordsOf, writtenBy } from "./debug_session_facts.ts";
import { type Drive, drive } from "./driver.ts";
import { scenarios } from "./examples.ts";
import { API, withRealm } from "./realm_host.ts";
import { SharedRealm } from "./shared_realm.ts";

const EXAMPLES = [
  ...[
    "onboarding",
    "counter",
    "shopping_cart",
    "batch_process",
    "inventory",
    "order_processing",
    "event_collector",
  ],
].map((name) => `examples/${name}/workflow.ts`);

/** Set by the Chromium runner, which has no files. */
const browser = globalThis as unknown as {
  __caseSources?: { [path: string]: string };
  __caseRealmEntry?: string;
};

const examples = new SharedRealm(() =>
  openWorkerRealm({
    workflows: EXAMPLES,
    ...(browser.__caseSources !== undefined &&
      { sources: browser.__caseSources, entry: browser.__caseRealmEntry! }),
  })
);

/** The runner of a drive, as a realm in this thread. */
const inline = (d: Drive): ReplayingRealm => ({
  workflowTypes: d.parts.definitions.map(({ name }) => name),
  replay: (...args) => d.parts.runner.replay(...args),
});

const encode = (events: readonly HistoryEvent[]): Uint8Array =>
  toBinary(HistorySchema, create(HistorySchema, { events: [...events] }));

async function example(name: string, realm: WorkerRealm): Promise<void> {
  const d = await scenarios[name]!();
  const bytes = d.server.history();
  const { events } = fromBinary(HistorySchema, bytes);
  const session = await openSession(bytes, { realm });
  equal(session.problem, undefined);
  equal(session.verdict, "ok");
  equal(session.length, events.length);

  // Forward, event by event: the commands of each task are those of history.
  const views: SessionView[] = [session.view];
  while (session.position < session.length) views.push(session.forward());
  equal(views.length, events.length);
  ok(session.tasks.length > 0);
  for (const view of views) {
    equal(view.position, Number(events[view.position - 1]!.eventId));
    equal(
      view.task?.eventId,
      session.tasks.findLast(({ eventId }) => eventId <= view.position)?.eventId,
    );
    if (view.task === undefined) {
      deepEqual([view.commands, view.open, view.published], [[], [], undefined]);
      continue;
    }
    const written = writtenBy(events, view.task.eventId);
    deepEqual(
      view.commands.map(commandWords),
      written.map((event) => wordsOf(event)!),
      `commands at event ${view.position}`,
    );
    deepEqual(
      view.commands.map(({ eventId }) => eventId),
      written.map(({ eventId }) => Number(eventId)),
      "their events",
    );
  }

  // Back, and across: the same views.
  for (let position = session.length - 1; position >= 1; position--) {
    deepEqual(session.back(), views[position - 1]);
  }
  deepEqual(session.back(), views[0], "it stays at the first event");
  for (let i = 0; i < 3 * views.length; i++) {
    const position = 1 + (i * 7919) % views.length;
    deepEqual(session.goTo(position), views[position - 1]);
  }
  deepEqual(session.runToEnd(), views.at(-1));
  const stops: number[] = [];
  for (session.goTo(1); session.position < session.length;) {
    stops.push(session.forwardTask().position);
  }
  deepEqual(
    stops.filter((p) => session.tasks.some(({ eventId }) => eventId === p)),
    session.tasks.map(({ eventId }) => eventId),
  );
  const backwards: number[] = [];
  while (session.position > 1) backwards.push(session.backTask().position);
  deepEqual(
    backwards,
    [...session.tasks.map(({ eventId }) => eventId).reverse(), 1].filter((p, i) =>
      i > 0 || p < session.length
    ),
  );

  // A replay of the prefix alone shows the same (P3), in a worker realm and in this thread.
  const here = inline(d);
  const whole = await openSession(bytes, { realm: here });
  // Two sessions over one reading of the history show what a session over the file shows.
  const prepared = await prepareHistory(bytes);
  for (
    const again of [
      await openSession(prepared, { realm: here }),
      await openSession(prepared, { realm: here }),
    ]
  ) {
    for (let at = 1; at <= whole.length; at++) deepEqual(again.viewAt(at), whole.viewAt(at));
  }
  const siteless = (view: ReturnType<typeof known>) =>
    JSON.stringify(view, (key, value: unknown) => key === "site" ? undefined : value);
  for (const { lastEventId: position } of session.tasks) {
    const prefix = encode(events.slice(0, position));
    const cut = await openSession(prefix, { realm });
    equal(cut.problem, undefined);
    deepEqual(
      known(cut.runToEnd(), position),
      known(views[position - 1]!, position),
      `the prefix of ${position} events`,
    );
    equal(
      siteless(known(whole.goTo(position), position)),
      siteless(known(views[position - 1]!, position)),
      "in this thread",
    );
  }
}

const CART = `${API}
const add = update("add"), done = signal("done"), note = signal("note");
export const cart = workflow("Cart", {
  async run() {
    publishState({ items: 0 });
    console.log("a cart was opened");
    const items = await receive([], [
      on(add, ([item], items) => {
        publishState({ items: items.length + 1 });
        return reply(items.length + 1, [...items, item]);
      }),
      on(done, (_, items) => stop(items)),
    ]);
    await parallel([() => sleep("1h"), () => sleep("2h")]);
    log.warn("no customer came", { items });
    return items.length;
  },
});
`;

const CASES: { [name: string]: () => Promise<void> } = {
  "what a receive is handling: the message that it waits for, and what was spawned for others":
    async () => {
      const go = signal("go");
      const slow = signal("slow");
      const w = workflow("Handles", () =>
        receive(0, [
          on(go, (_, s) => spawnAsync(() => sleep(60_000), s)),
          on(slow, async (_, s) => (await sleep(60_000), noreply(s))),
        ]));
      const d = await drive(w);
      await d.task();
      d.server.signal("go");
      d.server.signal("slow");
      await d.task();
      const session = await openSession(d.server.history(), { realm: inline(d) });
      const [first, second] = session.tasks.map(({ eventId }) => session.viewAt(eventId).receive);
      deepEqual(first!.handling, []);
      deepEqual(second, {
        ...{ signals: ["go", "slow"], updates: [], stopping: false },
        handling: ['async handler of signal "go"', 'handler of signal "slow"'],
      });
    },

  "positions show published state, awaits, messages and log lines": () =>
    withRealm(CART, async (h) => {
      const run = h.start("Cart");
      await run.task();
      run.server.update("u1", "add", "nut");
      await run.task();
      run.server.signal("note", 1);
      run.server.signal("done");
      await run.task();
      run.server.fireTimer("1");
      await run.auto();
      equal(run.server.closed?.result, 1);
      const session = await openSession(run.server.history(), { realm: h.realm });
      equal(session.problem, undefined);
      const [first, second, third] = session.tasks.map(({ eventId }) => session.viewAt(eventId));

      deepEqual(session.view.open, []);
      deepEqual(first!.published, { value: { items: 0 }, sinceEventId: first!.position });
      deepEqual(first!.receive, {
        signals: ["done"],
        updates: ["add"],
        stopping: false,
        handling: [],
      });
      deepEqual(first!.open.map(({ kind, fiber }) => [kind, fiber]), [[
        "receive",
        'run of workflow "Cart"',
      ]]);
      match(first!.open[0]!.site, /main\.ts:\d+/);
      deepEqual(first!.logs.map(({ message, eventId }) => [message, eventId]), [[
        "a cart was opened",
        first!.position,
      ]]);
      deepEqual(first!.messages, []);

      deepEqual(second!.published, { value: { items: 1 }, sinceEventId: second!.position });
      deepEqual(
        second!.messages.map((
          { name, arguments: args, state, result },
        ) => [name, args, state, result]),
        [
          ["add", ["nut"], "completed", 1],
        ],
      );

      // Between the tasks the signals have arrived, and the code knows nothing of them.
      const between = session.viewAt(third!.position - 2);
      deepEqual(between.messages.map(({ name, state }) => [name, state]), [
        ["add", "completed"],
        ["note", "arrived"],
        ["done", "arrived"],
      ]);
      equal(between.isInTask, false);
      deepEqual(third!.messages.map(({ name, state }) => [name, state]), [
        ["add", "completed"],
        ["note", "waiting"],
        ["done", "taken"],
      ]);
      deepEqual(third!.commands.map(({ summary }) => summary), [
        "timer 1 for 1 h",
        "timer 2 for 2 h",
      ]);
      for (const { site } of third!.commands) match(site, /main\.ts:\d+/);
      deepEqual(
        third!.open.map(({ kind, seq, fiber }) => [kind, seq, fiber]),
        [
          ["children", 0, 'run of workflow "Cart"'],
          ["timer", 1, 'branch 1 of parallel in run of workflow "Cart"'],
          ["timer", 2, 'branch 2 of parallel in run of workflow "Cart"'],
        ],
      );
      equal(third!.open[1]!.firesAtMs, third!.task!.timeMs + 3_600_000);
      deepEqual(
        third!.open.map(({ eventId }) => eventId),
        [undefined, undefined, undefined],
        "the events follow the task",
      );
      const written = session.viewAt(third!.task!.lastEventId);
      deepEqual(written.open.map(({ eventId }) => eventId), [
        undefined,
        written.position - 1,
        written.position,
      ]);

      const fired = session.events.find(({ type }) => type === "TimerFired")!;
      equal(session.viewAt(fired.eventId).open[1]!.endedBy, fired.eventId);
      const last = session.runToEnd();
      deepEqual(last.open, []);
      deepEqual(last.outcome, { kind: "completed", value: 1, eventId: session.length });
      deepEqual(last.logs.filter(({ level }) => level === "warn").map(({ message }) => message), [
        "no customer came",
        "the workflow ended with 1 unprocessed signal: note",
      ]);
      deepEqual(session.eventDetails(1), session.eventDetails(1));
      for (const bad of [0, -1, session.length + 1, 1.5, NaN]) {
        throws(() => session.goTo(bad), /RangeError: event \S+ does not exist/);
      }
      equal(session.position, session.length, "a refused jump leads nowhere");
    }),

  "a history that other code wrote shows event, commands and line": async () => {
    let history: Uint8Array;
    await withRealm(CART, async (h) => {
      const run = h.start("Cart");
      await run.task();
      run.server.signal("done");
      await run.task();
      history = run.server.history();
    });
    const other = CART.replace('() => sleep("1h"), () => sleep("2h")', "() => pay.charge(1)")
      .replace(
        "export const cart",
        'const pay = api.activities({ startToClose: "1s" });\nexport const cart',
      );
    await withRealm(other, async ({ realm }) => {
      const session = await openSession(history, { realm });
      const problem = session.problem!;
      equal(problem.name, "NondeterminismError");
      ok(problem.isDivergence);
      equal(session.events[problem.eventId - 1]!.type, "TimerStarted");
      match(
        `${problem.expected} | ${problem.actual}`,
        /TimerStarted.*ScheduleActivity|StartTimer.*ScheduleActivity|Timer.*Activity/,
      );
      match(problem.location, /main\.ts:\d+/);
      equal(session.viewAt(problem.position - 1).problem, undefined);
      equal(session.goToProblem().problem, problem);
      equal(session.runToEnd().problem, problem, "it stays in sight");
      deepEqual(session.view.commands.map(({ kind, eventId }) => [kind, eventId]), [[
        "ScheduleActivity",
        undefined,
      ]]);
    });
  },

  "code that fails or spins is a problem by name, and its events can be read": () =>
    withRealm(
      CART.replace(
        "publishState({ items: 0 });",
        "if (true) { throw new TypeError('no carts today'); }",
      ),
      async ({ realm }) => {
        const d = await drive({ ...batchProcess, name: "Cart" } as never, {
          args: [{ items: [] }],
        });
        await d.task();
        const session = await openSession(d.server.history(), { realm });
        match(session.problem!.message, /no carts today/);
        match(session.problem!.location, /main\.ts:\d+/);
        equal(session.runToEnd().problem, session.problem);
        await withRealm(
          CART.replace("publishState({ items: 0 });", "for (let i = 0; i < 4e9; i++);"),
          async (h) => {
            const spun = await openSession(d.server.history(), { realm: h.realm });
            equal(spun.problem!.name, "RealmLostError");
            equal(spun.events.length, d.server.events.length);
            equal(spun.goToProblem().commands.length, 0);
            equal(spun.problem!.position, 3, "the first task");
          },
          { watchdogMs: 500 },
        );
      },
    ),

  "code that spins in a later task is shown up to that task": async () => {
    let history: Uint8Array;
    await withRealm(CART, async (h) => {
      const run = h.start("Cart");
      await run.task();
      run.server.update("u1", "add", "nut");
      await run.task();
      run.server.signal("done");
      await run.task();
      history = run.server.history();
    });
    await withRealm(
      CART.replace(
        "on(done, (_, items) => stop(items))",
        "on(done, () => { for (let i = 0; i < 4e9; i++); })",
      ),
      async ({ realm }) => {
        const session = await openSession(history, { realm });
        const { problem } = session;
        equal(problem!.name, "RealmLostError");
        equal(session.events[problem!.position - 1]!.type, "WorkflowTaskStarted");
        equal(session.tasks.length, 2);
        ok(problem!.position > session.tasks[1]!.lastEventId);
        const view = session.viewAt(problem!.position - 1);
        deepEqual([view.published, view.problem], [{
          value: { items: 1 },
          sinceEventId: session.tasks[1]!.eventId,
        }, undefined]);
        deepEqual(view.messages.map(({ name, state }) => [name, state]), [["add", "completed"], [
          "done",
          "arrived",
        ]]);
        equal(session.goToProblem().problem, problem);
      },
      { watchdogMs: 500 },
    );
  },

  "an encoded history is decoded with its codec": () =>
    withRealm(CART, async (h) => {
      const run = h.start("Cart");
      run.server.signal("note", "secret");
      await run.task();
      const flip: PayloadCodec = {
        encode: (payloads) =>
          Promise.resolve(payloads.map(({ data }) => ({
            metadata: { encoding: new TextEncoder().encode("binary/flipped") },
            data: data.map((byte) => byte ^ 255),
          }))),
        decode: (payloads) =>
          Promise.resolve(payloads.map((payload) =>
            new TextDecoder().decode(payload.metadata["encoding"]) !== "binary/flipped"
              ? payload
              : {
                metadata: { encoding: new TextEncoder().encode("json/plain") },
                data: payload.data.map((byte) => byte ^ 255),
              }
          )),
      };
      const { events } = fromBinary(HistorySchema, run.server.history());
      const signal = events.find(({ attributes }) =>
        attributes.case === "workflowExecutionSignaledEventAttributes"
      )!;
      const input = (signal.attributes.value as {
        input: { payloads: { metadata: { [k: string]: Uint8Array }; data: Uint8Array }[] };
      }).input;
      Object.assign(input.payloads[0]!, (await flip.encode(input.payloads))[0]);
      const shut = await openSession(encode(events), { realm: h.realm });
      match(
        String(shut.runToEnd().messages[0]!.arguments[0]),
        /^\[unreadable: .*"binary\/flipped"/,
      );
      const opened = await openSession(encode(events), { realm: h.realm, codec: flip });
      deepEqual(opened.runToEnd().messages[0]!.arguments, ["secret"]);
      const broken = {
        ...flip,
        decode: () =>
          Promise.reject(new Error("no key")),
      };
      await rejects(
        openSession(encode(events), { realm: h.realm, codec: broken }),
        /PayloadCodecError/,
      );
    }),

  "a run that is still open shows what it is parked on": () =>
    withRealm(CART, async (h) => {
      const run = h.start("Cart");
      await run.task();
      run.server.signal("note");
      const session = await openSession(run.server.history(), { realm: h.realm });
      equal(session.problem, undefined);
      const view = session.runToEnd();
      equal(view.outcome, undefined);
      deepEqual(view.open.map(({ kind }) => kind), ["receive"]);
      deepEqual(view.messages.map(({ name, state }) => [name, state]), [["note", "arrived"]]);
    }),

  "an invalid history, or one of other code, is rejected by name": () =>
    withRealm(CART, async (h) => {
      const open = (text: string) =>
        openSession(new TextEncoder().encode(text), { realm: h.realm });
      await rejects(open(""), /HistoryFileError: the file is empty/);
      await rejects(
        open("garbage\u0000\u0001\u0002, and more of it"),
        /HistoryFileError: .*neither JSON nor a protobuf history/,
      );
      await rejects(open('{"events": [{"eventId": 1,'), /HistoryFileError: .*not valid JSON/);
      await rejects(open('{"a": 1}'), /HistoryFileError: .*no "events"/);
      const d = await scenarios["Onboarding"]!();
      const foreign = openSession(d.server.history(), { realm: h.realm });
      await rejects(
        foreign,
        /UnknownWorkflowTypeError: .*"Onboarding".*the code has no such workflow \(it has: Cart\)/,
      );
    }),

  "damaged histories are problems by name, wherever the damage is": async () => {
    const d = await scenarios["ShoppingCart, confirmed"]!();
    const { events } = fromBinary(HistorySchema, d.server.history());
    const realm = inline(d);
    const names = new Set<string>();
    for (let gone = 1; gone < events.length; gone++) {
      const left = [...events.slice(0, gone), ...events.slice(gone + 1)].map((event, i) => ({
        ...event,
        eventId: BigInt(i + 1),
      }));
      const session = await openSession(encode(left), { realm });
      for (session.goTo(1); session.position < session.length;) session.forward();
      const { problem } = session;
      if (problem === undefined) continue;
      names.add(problem.name);
      ok(problem.message.length > 10, problem.message);
      ok(problem.position >= 1 && problem.position <= session.length);
    }
    ok(names.has("NondeterminismError") && names.has("FatalCoreError"), [...names].join());
  },
};

export const cases: Case[] = [
  ...Object.keys(scenarios).map((name) => {
    const use = examples.user();
    return {
      name: `debug session over example ${name}`,
      run: () => use((realm) => example(name, realm)),
    };
  }),
  ...Object.entries(CASES).map(([name, run]) => ({ name: `debug session: ${name}`, run })),
];
