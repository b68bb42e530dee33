// Random workflow programs and random lives for them, for property tests. random_interpreter.ts
// runs the programs; a life is a list of things that happen outside.
import fc from "fast-check";
import type { ArmOp, Leaf, Op, Step } from "./random_interpreter.ts";

const leaf: fc.Arbitrary<Leaf> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Leaf>({ op: "act" }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 3 }).map((ms): Leaf => ({ op: "sleep", ms })) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Leaf>({ op: "wait", name: "a" }, { op: "wait", name: "b" }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Leaf>(
      ...[{ op: "side" }, { op: "patch", id: "p" }, { op: "patch", id: "q" }, { op: "publish" }, {
        op: "random",
      }, {
        op: "throw",
      }] as Leaf[],
    ),
  },
);
const { body } = fc.letrec<{ op: Op; body: Op[]; then: Op[]; arm: ArmOp }>((tie) => ({
  then: fc.oneof({ weight: 2, arbitrary: fc.constant<Op[]>([]) }, {
    weight: 1,
    arbitrary: tie("body"),
  }),
  arm: fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        arm: fc.constant("signal" as const),
        name: fc.constantFrom("a" as const, "b" as const, "c" as const),
        then: tie("then"),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        arm: fc.constant("timer" as const),
        ms: fc.integer({ min: 0, max: 3 }),
        then: tie("then"),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        arm: fc.constant("handed" as const),
        leaf,
        again: fc.boolean(),
        then: tie("then"),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        arm: fc.constant("call" as const),
        body: tie("body"),
        then: tie("then"),
      }),
    },
  ),
  op: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 6, arbitrary: leaf },
    {
      weight: 2,
      arbitrary: fc.record({
        op: fc.constant("par" as const),
        branches: fc.array(tie("body"), { minLength: 1, maxLength: 3 }),
        returns: fc.boolean(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        op: fc.constant("race" as const),
        arms: fc.array(leaf, { minLength: 2, maxLength: 3 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        op: fc.constant("select" as const),
        times: fc.integer({ min: 1, max: 3 }),
        arms: fc.array(tie("arm"), { minLength: 1, maxLength: 4 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ op: fc.constant("shield" as const), body: tie("body") }) },
  ),
  body: fc.array(tie("op"), { minLength: 1, maxLength: 3 }),
}));
const handlerBody = fc.oneof(fc.constant<Op[]>([]), body);

export const program: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: body.map((ops): Step => ops[0]!) },
    { weight: 1, arbitrary: fc.constant<Step>({ op: "again" }) },
    {
      weight: 8,
      arbitrary: fc.record({
        op: fc.constant("receive" as const),
        timeout: fc.constantFrom(5, 5, 5, 0),
        returns: fc.boolean(),
        sync: handlerBody,
        async: handlerBody,
        update: handlerBody,
        later: handlerBody,
      }),
    },
  ),
  { minLength: 1, maxLength: 4 },
);

/**
 * The same with local activities among the activities. Their results come at the end of a task, so
 * what such a program comes to hangs on how events are grouped into tasks, live; on replay of what
 * was recorded it must not.
 */
export const programWithLocals: fc.Arbitrary<Step[]> = fc.tuple(
  program,
  fc.array(fc.nat(3), { minLength: 1, maxLength: 8 }),
).map(
  ([steps, choices]) => {
    let at = 0;
    return JSON.parse(JSON.stringify(steps), (_, value) => {
      if (value?.op !== "act") return value;
      const choice = choices[at++ % choices.length]!;
      return { ...value, near: choice > 0, wait: choice === 3 };
    });
  },
);

/**
 * The same with reducers among the activities. Their results come in a separate task, before
 * anything that happens later: the outcome of such a program depends on the grouping, too.
 */
export const programWithReducers: fc.Arbitrary<Step[]> = fc.tuple(
  program,
  fc.array(fc.nat(3), { minLength: 1, maxLength: 8 }),
)
  .map(
    ([steps, choices]) => {
      let at = 0;
      return JSON.parse(JSON.stringify(steps), (_, value) => {
        if (value?.op !== "act") return value;
        const choice = choices[at++ % choices.length]!;
        return choice === 0 ? value : { op: "transact", wait: choice > 1 };
      });
    },
  );

const filter = fc.constantFrom(undefined, undefined, "orc", "x:y");
const heard = fc.constantFrom("a" as const, "b" as const, "c" as const);
const ofTheDatabase: fc.Arbitrary<Leaf> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant("ask" as const), timeout: fc.constantFrom(0, 3) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant("subscribe" as const), name: heard, filter }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant("unsubscribe" as const), name: heard, filter }),
  },
  { weight: 1, arbitrary: fc.constant<Leaf>({ op: "belongs" }) },
);
const inTheTask: fc.Arbitrary<Leaf> = fc.oneof(
  { weight: 2, arbitrary: fc.boolean().map((wait): Leaf => ({ op: "transact", wait })) },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant("broadcast" as const), name: heard, filter }),
  },
);

/** Puts other leaves in the place of two activities in three, and names on half of the timers. */
const withLeaves = (leaves: fc.Arbitrary<Leaf>): fc.Arbitrary<Step[]> =>
  fc.tuple(program, fc.array(fc.option(leaves, { freq: 3 }), { minLength: 2, maxLength: 8 })).map(
    ([steps, choices]) => {
      let at = 0;
      return JSON.parse(JSON.stringify(steps), (_, value) => {
        if (value?.op === "act") return choices[at++ % choices.length] ?? value;
        if (value?.op === "sleep" && at++ % 2 === 0) return { op: "named", ms: value.ms };
        return value;
      });
    },
  );

/** The same with named timers, procedures, subscriptions and what the run belongs to. */
export const programWithConstructs: fc.Arbitrary<Step[]> = withLeaves(ofTheDatabase);

/** The same with reducers and broadcasts, too. Their results come in a separate task: see above. */
export const programWithEverything: fc.Arbitrary<Step[]> = withLeaves(
  fc.oneof(ofTheDatabase, inTheTask),
);

/** Something that happens outside. `pick` chooses among what is open when it happens. */
export type Happening =
  | { kind: "signal"; name: "a" | "b" | "c" | "stop" | "other"; n: number }
  | { kind: "update"; name: "u" | "v" | "halt"; n: number }
  | { kind: "timer"; pick: number }
  // `ends`: of a procedure that neither returns nor fails as an activity does.
  | { kind: "activity"; pick: number; fails: boolean; ends?: "times out" | "fails by its result" }
  | { kind: "cancel" };

const n = fc.integer({ min: 0, max: 9 });
const message = {
  weight: 5,
  arbitrary: fc.record({
    kind: fc.constant("signal" as const),
    name: fc.constantFrom("a" as const, "b", "c", "stop", "other"),
    n,
  }),
};
/** A message that does not end a receive. */
const partialMessage: fc.WeightedArbitrary<Happening> = {
  weight: 5,
  arbitrary: fc.oneof(
    fc.record({
      kind: fc.constant("signal" as const),
      name: fc.constantFrom("a" as const, "b", "c"),
      n,
    }),
    fc.record({
      kind: fc.constant("update" as const),
      name: fc.constantFrom("u" as const, "v"),
      n,
    }),
  ),
};
const activityEnd = fc.record({
  kind: fc.constant("activity" as const),
  pick: n,
  fails: fc.boolean(),
});
export const life: fc.Arbitrary<Happening[]> = fc.array(
  fc.oneof(
    message,
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("update" as const),
        name: fc.constantFrom("u" as const, "u", "v", "v", "halt"),
        n,
      }),
    },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant("timer" as const), pick: n }) },
    { weight: 8, arbitrary: activityEnd },
    { weight: 1, arbitrary: fc.constant({ kind: "cancel" as const }) },
  ),
  { minLength: 1, maxLength: 25 },
);

/** A program that receives, and a life whose cancel request comes after some messages. */
export const canceledReceives: fc.Arbitrary<{ steps: Step[]; happenings: Happening[] }> = fc.record(
  {
    step: fc.record({
      op: fc.constant("receive" as const),
      timeout: fc.constant(5),
      returns: fc.boolean(),
      sync: handlerBody,
      async: handlerBody,
      update: handlerBody,
      later: handlerBody,
    }),
    around: fc.array(body.map((ops): Step => ops[0]!), { maxLength: 1 }),
    before: fc.array(
      fc.oneof(partialMessage, { weight: 1, arbitrary: activityEnd }),
      { minLength: 2, maxLength: 12 },
    ),
    after: life,
  },
).map(({ step, around, before, after }) => ({
  steps: [step, ...around],
  happenings: [...before, { kind: "cancel" }, ...after],
}));

/** A parallel of random branches that a cancel request meets. */
export const canceledParallels: typeof canceledReceives = fc.record({
  branches: fc.array(body, { minLength: 1, maxLength: 4 }),
  returns: fc.boolean(),
  before: fc.array(activityEnd, { maxLength: 3 }),
  after: life,
}).map(({ branches, returns, before, after }) => ({
  steps: [{ op: "par", branches, returns }],
  happenings: [...before, { kind: "cancel" }, ...after],
}));

/** The same, with procedures that time out, and that fail by what they return. */
export const lifeWithProcedures: fc.Arbitrary<Happening[]> = fc.tuple(
  life,
  fc.array(
    fc.constantFrom(undefined, undefined, "times out" as const, "fails by its result" as const),
    {
      minLength: 1,
      maxLength: 8,
    },
  ),
).map(([happenings, choices]) =>
  happenings.map((each, i) => {
    const ends = choices[i % choices.length];
    return each.kind === "activity" && ends !== undefined ? { ...each, ends } : each;
  })
);
