// Values that JSON would lose: carried through every entry and exit of a workflow, or rejected by
// name, and never on replay.
import {
  activities,
  ApplicationFailure,
  continueAsNew,
  externalWorkflow,
  noreply,
  on,
  publishState,
  receive,
  reply,
  sideEffect,
  signal,
  sleep,
  startChild,
  stop,
  update,
  workflow,
} from "../../ts/workflow/mod.ts";
import { defaultPayloadConverter, jsonPayloadConverter } from "../../ts/converter/payload.ts";
import { fromFailure, toFailure } from "../../ts/converter/failure_converter.ts";
import { deepEqual, equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

class Money {
  readonly cents: number;
  constructor(cents: number) {
    this.cents = cents;
  }
}
class Price extends Money {
  toJSON(): string {
    return `${this.cents} cents`;
  }
}

const acts = activities<{ work(x: unknown): unknown }>();
const text = new TextDecoder();
const there = (value: unknown) =>
  defaultPayloadConverter.fromPayload(defaultPayloadConverter.toPayload(value));
const json = (value: unknown) => text.decode(defaultPayloadConverter.toPayload(value).data);

function refusal(value: unknown): string {
  try {
    defaultPayloadConverter.toPayload(value);
  } catch (e) {
    return `${(e as Error).name}: ${(e as Error).message}`;
  }
  return "not refused";
}

/** One of each kind that is carried, at the top and inside of others. */
const ODD = (): unknown => ({
  at: new Date(86_400_000),
  never: new Date(NaN),
  counts: new Map<unknown, unknown>([["a", new Date(1)], [
    { key: 1 },
    new Set([undefined, NaN, new Map()]),
  ]]),
  numbers: [NaN, Infinity, -Infinity, -0, 0],
  gaps: [undefined, , 1],
  bytes: [new Uint8Array([1, 2, 255]), new Uint8Array(0)],
  ["__proto__"]: new Date(2),
  "": { "a.b": [new Set()] },
});

function checkOdd(value: unknown): void {
  // deno-lint-ignore no-explicit-any
  const odd = value as any;
  ok(odd.at instanceof Date && odd.never instanceof Date);
  equal(odd.at.getTime(), 86_400_000);
  ok(Number.isNaN(odd.never.getTime()));
  const entries = [...odd.counts];
  equal(entries[0][0], "a");
  equal(entries[0][1].getTime(), 1);
  equal(entries[1][0].key, 1);
  const [first, second, third] = entries[1][1];
  ok(first === undefined && Number.isNaN(second) && third instanceof Map);
  ok(Number.isNaN(odd.numbers[0]) && Object.is(odd.numbers[3], -0) && Object.is(odd.numbers[4], 0));
  deepEqual(odd.numbers.slice(1, 3), [Infinity, -Infinity]);
  ok(
    odd.gaps.length === 3 && odd.gaps[0] === undefined && odd.gaps[1] === undefined &&
      odd.gaps[2] === 1,
  );
  deepEqual([[...odd.bytes[0]], odd.bytes[1].length], [[1, 2, 255], 0]);
  ok(odd.bytes[0] instanceof Uint8Array);
  equal(Object.getOwnPropertyDescriptor(odd, "__proto__")!.value.getTime(), 2);
  ok(odd[""]["a.b"][0] instanceof Set);
}

/** A run that refuses: the message of the task's failure. */
async function failedTask(run: () => unknown): Promise<string> {
  const d = await drive(workflow("W", async () => {
    await sleep(1);
    return await run();
  }));
  await d.task();
  d.server.fireTimer("1");
  await d.task();
  equal(d.server.closed, undefined);
  return d.server.taskFailure?.failure.message ?? "the task did not fail";
}

export const cases: Case[] = [
  {
    name: "values that JSON cannot represent are restored, and other programs read plain JSON",
    run() {
      checkOdd(there(ODD()));
      equal(json(new Date(0)), '"1970-01-01T00:00:00.000Z"');
      equal(
        json({
          m: new Map([["a", 1]]),
          s: new Set([1]),
          n: NaN,
          u: [undefined],
          b: new Uint8Array([1]),
        }),
        '{"m":[["a",1]],"s":[1],"n":null,"u":[null],"b":"AQ=="}',
      );
      equal(json({ gone: undefined, kept: 1 }), '{"kept":1}');
      equal(there(new Price(3)), "3 cents");
      ok(Object.is(there(-0), -0) && Number.isNaN(there(NaN)));
      // Plain data has no notes: its payloads are what they always were.
      deepEqual(
        Object.keys(defaultPayloadConverter.toPayload([{ a: 1, b: [null, "x"] }]).metadata),
        ["encoding"],
      );
      // And what does without notes reads as Temporal's other SDKs read it.
      equal(
        jsonPayloadConverter.fromPayload(defaultPayloadConverter.toPayload(new Date(0))),
        "1970-01-01T00:00:00.000Z",
      );
      equal(
        text.decode(jsonPayloadConverter.toPayload([new Map(), NaN, new Money(1)]).data),
        '[{},null,{"cents":1}]',
      );
    },
  },
  {
    name: "unsupported values are rejected with their path and advice",
    run() {
      equal(
        refusal({ items: [{ price: new Money(1) }] }),
        "LossyValueError: value.items[0].price is an instance of Money, which would lose its class; " +
          "pass plain data ({ ...value }), or add a toJSON method to the class",
      );
      equal(
        refusal({ f: () => 1 }),
        "LossyValueError: value.f is a function, which cannot be encoded; pass plain data",
      );
      equal(
        refusal({ "a b": [Symbol("x")] }),
        'LossyValueError: value["a b"][0] is a symbol, which cannot be encoded; pass plain data',
      );
      for (const whole of [() => 1, class Order {}, Symbol("x")]) {
        equal(
          refusal(whole),
          `LossyValueError: value is a ${typeof whole}, which cannot be encoded; pass plain data`,
        );
      }
      equal(
        refusal(1n),
        "PayloadConverterError: value is a bigint, which cannot be encoded as JSON; pass it as a string",
      );
      equal(refusal([Promise.resolve()]), "LossyValueError: value[0] is a promise; await it first");
      match(refusal(new Map([["k", /a/]])), /^LossyValueError: value\[0\]\[1\] is a RegExp/);
      match(refusal({ e: new TypeError("x") }), /^LossyValueError: value\.e is an Error/);
      match(
        refusal({ a: new Float64Array(1) }),
        /^LossyValueError: value\.a is a Float64Array.*Array\.from/,
      );
      match(
        refusal(new ArrayBuffer(1)),
        /^LossyValueError: value is an ArrayBuffer.*new Uint8Array/,
      );
      match(refusal(new WeakMap()), /^LossyValueError: value is an instance of WeakMap/);
      equal(
        refusal({ n: 1n }),
        "PayloadConverterError: value.n is a bigint, which cannot be encoded as JSON; pass it as a string",
      );
      const around: { in?: unknown } = {};
      around.in = [around];
      equal(
        refusal({ around }),
        "PayloadConverterError: value.around.in[0] is value.around again; a circular structure cannot be encoded as JSON",
      );
      match(
        refusal({
          get a(): never {
            throw new Error("boo");
          },
        }),
        /^PayloadConverterError: .*boo/,
      );
      // The same object twice is not a cycle.
      const twice = { d: new Date(0) };
      equal(json([twice, twice]).length, json([twice]).length * 2 - 1);
    },
  },
  {
    name: "notes that do not match their JSON are rejected and cannot change prototypes",
    run() {
      const read = (data: unknown, notes: string) => {
        const { metadata, data: bytes } = jsonPayloadConverter.toPayload(data);
        try {
          return JSON.stringify(
            defaultPayloadConverter.fromPayload({
              metadata: { ...metadata, "js-types": new TextEncoder().encode(notes) },
              data: bytes,
            }),
          );
        } catch (e) {
          return `${(e as Error).name}: ${(e as Error).message}`;
        }
      };
      for (
        const [data, notes] of [
          [{}, "{}"],
          [{}, "[1]"],
          [{}, '[["Date"]]'],
          [{}, '[["Date","a"]]'],
          [{}, '[["Date","__proto__"]]'],
          [{}, '[["NaN","constructor","prototype","x"]]'],
          [[1], '[["NaN","length"]]'],
          [[1], '[["NaN",-1]]'],
          ["x", '[["Date"]]'],
          [1, '[["Uint8Array"]]'],
          ["%", '[["Uint8Array"]]'],
          [[[1]], '[["Map"]]'],
          [{}, '[["Set"]]'],
          [[[1, 2]], '[["Map"],["NaN",0,0]]'],
        ] as const
      ) {
        match(
          read(data, notes),
          /^PayloadConverterError: the value annotations of a payload do not match its JSON/,
          notes,
        );
      }
      match(
        read({}, "{"),
        /^PayloadConverterError: the value annotations of a payload are not valid JSON/,
      );
      match(read({}, '[["Temporal"]]'), /does not support; it may be from a newer version/);
      equal(({} as { x?: unknown }).x, undefined);
    },
  },
  {
    name: "arguments, results, messages, state and side effects of a workflow support these values",
    async run() {
      const put = update<[unknown], unknown>("put");
      const end = signal<[unknown]>("end");
      const seen: { [source: string]: unknown } = {};
      const w = workflow("W", {
        queries: { state: (published: unknown) => published },
        async run(arg: unknown) {
          seen["argument"] = arg;
          seen["sideEffect"] = sideEffect(ODD);
          publishState(ODD());
          seen["activity result"] = await acts.work(ODD());
          seen["signal"] = await receive(undefined as unknown, [
            on(put, ([value], s) => (seen["update"] = value, reply(ODD(), s))),
            on(end, ([value]) => stop(value)),
          ]);
          return ODD();
        },
      });
      const d = await drive(w, { args: [ODD()], cached: false });
      await d.task();
      checkOdd(d.server.activities.get("1")!.args[0]);
      d.server.completeActivity("1", ODD());
      const sent = d.server.update("u", "put", ODD());
      await d.task();
      checkOdd(sent.result);
      d.server.signal("end", ODD());
      await d.task();
      checkOdd(await d.finish());
      for (const source of ["argument", "sideEffect", "activity result", "signal", "update"]) {
        checkOdd(seen[source]);
      }
      equal(d.server.taskFailure, undefined);
    },
  },
  {
    name:
      "a rejected value fails the task with its path in each API, even if the code catches the error",
    async run() {
      const money = new Money(1);
      const cannot = "is an instance of Money";
      match(
        await failedTask(() => money),
        new RegExp(`^the result of workflow "W" cannot be encoded: value ${cannot}`),
      );
      match(
        await failedTask(() => acts.work({ money })),
        new RegExp(`^args\\[0\\]\\.money ${cannot}`),
      );
      match(
        await failedTask(() => acts.work(money).catch(() => "caught")),
        new RegExp(`^args\\[0\\] ${cannot}`),
      );
      match(
        await failedTask(() => sideEffect(() => money)),
        new RegExp(`^the value of sideEffect cannot be encoded: value ${cannot}`),
      );
      match(
        await failedTask(() => {
          try {
            publishState({ money });
          } catch {
            return "caught";
          }
        }),
        new RegExp(`^the published state cannot be encoded: value\\.money ${cannot}`),
      );
      match(
        await failedTask(() => continueAsNew(1, money)),
        new RegExp(`^the arguments of continueAsNew cannot be encoded: args\\[1\\] ${cannot}`),
      );
      // A function as a whole is refused as one that is inside of a value, and no code catches it.
      const calls: (() => Promise<unknown>)[] = [
        () => acts.work(Money),
        () => externalWorkflow("w").signal("go", Money),
        () => startChild("Other", { id: "c", args: [Money] }),
      ];
      for (const call of calls) {
        const caught = async () => {
          try {
            return await call();
          } catch {
            return "caught";
          }
        };
        match(await failedTask(caught), /^args\[0\] is a function, which cannot be encoded/);
      }
      match(
        await failedTask(() => Money),
        /^the result of workflow "W" cannot be encoded: value is a function, which cannot/,
      );
      const put = update<[], unknown>("put");
      const d = await drive(
        workflow("W", async () => void await receive(0, [on(put, () => reply(money, 1))])),
      );
      d.server.update("u", "put");
      await d.task();
      match(
        d.server.taskFailure!.failure.message,
        new RegExp(`^the response to update "put" cannot be encoded: value ${cannot}`),
      );
    },
  },
  {
    name: "a query that returns such a value fails, and the run continues",
    async run() {
      const w = workflow("W", {
        queries: { look: () => ({ money: new Money(1) }) },
        run: async () => (await sleep(1), "done"),
      });
      const d = await drive(w);
      await d.task();
      match(
        (await d.query("look")).message,
        /^the result of query "look" cannot be encoded: value\.money is an instance of Money/,
      );
      d.server.fireTimer("1");
      await d.task();
      equal(await d.finish(), "done");
    },
  },
  {
    name: "a failure with rejected details keeps its type and states the reason",
    run() {
      const failure = toFailure(
        new ApplicationFailure("no", {
          type: "T",
          nonRetryable: true,
          details: [1, { money: new Money(1) }],
        }),
      );
      const read = fromFailure(failure) as ApplicationFailure;
      match(
        read.message,
        /^no \(some details were lost: details\[1\]\.money is an instance of Money/,
      );
      deepEqual([read.type, read.nonRetryable, read.details], ["T", true, [1, {
        money: { cents: 1 },
      }]]);
      checkOdd(
        (fromFailure(
          toFailure(new ApplicationFailure("", { details: [ODD()] })),
        ) as ApplicationFailure).details[0],
      );
    },
  },
  {
    name:
      "recorded code that caught the rejection of a function replays, although the rejection now fails the task",
    async run() {
      let value: unknown = 1n;
      const w = workflow("W", async () => {
        let caught = "";
        try {
          await acts.work(value);
        } catch (e) {
          caught = (e as Error).name;
        }
        await sleep(1);
        return caught;
      });
      const d = await drive(w, { cached: false });
      await d.task();
      value = Money;
      d.server.fireTimer("1");
      await d.task();
      equal(d.server.taskFailure, undefined);
      equal(await d.finish(), "PayloadConverterError");
    },
  },
  {
    name:
      "a history that silently lost values still replays, and its run continues up to the next rejected value",
    async run() {
      // What the code of then passed, as the history has it; then the code that always passed the
      // instance.
      let value: () => unknown = () => ({ cents: 1 });
      const go = signal("go");
      const w = workflow("W", async () => {
        publishState(value());
        let caught = "";
        await acts.work(value()).catch((e: Error) => (caught = e.message));
        await receive(0, [on(go, (_, s) => s === 0 ? noreply(1) : stop(2))]);
        await acts.work(value());
        return caught;
      });
      const d = await drive(w, { cached: false });
      await d.task();
      d.server.completeActivity("1");
      await d.task();
      value = () => new Money(1);
      equal((await d.replay()).error?.message, undefined);
      d.server.signal("go");
      await d.task();
      equal(d.server.taskFailure, undefined);
      d.server.signal("go");
      await d.task();
      match(d.server.taskFailure!.failure.message, /^args\[0\] is an instance of Money/);
      value = () => ({ ...new Money(1) }); // corrected
      await d.task();
      d.server.completeActivity("2");
      await d.task();
      equal(await d.finish(), "");
    },
  },
];
