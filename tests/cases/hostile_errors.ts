// Whatever is thrown becomes a failure with what can be read of it: in run, handlers, validators,
// queries and loose promises.
import { fromBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import {
  type Failure,
  FailureSchema,
} from "../../ts/messages/generated/temporal/api/failure/v1/message_pb.ts";
import { encodeCompatFailure as encodeCompat } from "../../ts/compat/common/failure_converter.ts";
import { toData } from "../../ts/browser/error_data.ts";
import { loggable } from "../../ts/codec/loggable.ts";
import { encodeFailure } from "../../ts/converter/failure_converter.ts";
import {
  ApplicationFailure,
  isCancellation,
  TemporalFailure,
} from "../../ts/converter/failures.ts";
import { defaultPayloadConverter } from "../../ts/converter/payload.ts";
import { stackText } from "../../ts/converter/stack.ts";
import { isA, MAX_CAUSES, readable } from "../../ts/converter/thrown.ts";
import { describeThrown, taskErrorOf } from "../../ts/executor/program/errors.ts";
import { formatArgs } from "../../ts/realm/guard/console.ts";
import { lineLogger } from "../../ts/base/logger.ts";
import {
  log,
  on,
  query,
  receive,
  reply,
  signal,
  spawnAsync,
  stop,
  update,
  workflow,
} from "../../ts/workflow/mod.ts";
import { testSeed } from "../support/seed.ts";
import { equal, match, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";
import { everyHostileField, hostile, type HostilePlan, hostilePlans } from "./hostile_values.ts";

/** Far below what a server takes of one failure. */
const MAX_BYTES = 1024 * 1024;

function depthOf(failure: Failure): number {
  let depth = 0;
  for (let part = failure.cause; part !== undefined; part = part.cause) depth++;
  return depth;
}

function checkFailure(bytes: Uint8Array): Failure {
  ok(bytes.length < MAX_BYTES, `${bytes.length} bytes`);
  const failure = fromBinary(FailureSchema, bytes);
  ok(depthOf(failure) <= MAX_CAUSES + 1, `${depthOf(failure)} causes`);
  return failure;
}

/** Everything that reads what was thrown, outside of a run. */
function checkThrown(value: unknown): void {
  const failure = checkFailure(encodeFailure(value));
  checkFailure(encodeCompat(value, defaultPayloadConverter));
  equal(typeof failure.message, "string");
  equal(typeof describeThrown(value), "string");
  equal(typeof taskErrorOf(value, "here"), "object");
  equal(typeof formatArgs([value]), "string");
  equal(typeof toData(value).message, "string");
  equal(typeof isCancellation(value), "boolean");
  if (isA(value, Error)) equal(typeof stackText(value), "string");
  for (
    const shown of [
      readable(value),
      loggable(value, undefined),
      loggable(value, { hidesText: true }),
    ]
  ) {
    let line = "";
    lineLogger({ write: (text) => line = text }).error("it failed", { error: shown, raw: value });
    match(line, /^error it failed/);
  }
}

const plans: { plan: HostilePlan } = { plan: { kind: "value", value: "null" } };
const thrown = () => hostile(plans.plan);

const ask = update<[], string>("ask");
const askLater = update<[], string>("ask_later");
const askValidated = update<[], string>("ask_validated");
const note = signal("note");
const end = signal("end");
const look = query<string>("look");

const thrower = workflow("Thrower", async () => {
  throw thrown();
});

const loose = workflow("Loose", {
  run: async () => {
    void Promise.reject(thrown());
    await receive(0, [on(end, (_, s) => stop(s))]);
  },
});

const talker = workflow("Talker", {
  messages: { look },
  queries: {
    look: () => {
      throw thrown();
    },
  },
  run: async () => {
    log.info("a hostile field", { field: thrown(), error: { nested: thrown() } });
    return await receive(0, [
      on(ask, () => {
        throw thrown();
      }),
      on(askLater, (_, s) =>
        spawnAsync(() => {
          throw thrown();
        }, s)),
      on(askValidated, (_, s) => reply("not reached", s), {
        validate: () => {
          throw thrown();
        },
      }),
      on(note, () => {
        throw thrown();
      }),
      on(end, (_, s) => stop(s)),
    ]);
  },
});

const property = (runs: number, check: () => Promise<void> | void) =>
  fc.assert(
    fc.asyncProperty(hostilePlans, async (plan) => {
      plans.plan = plan;
      await check();
    }),
    { numRuns: runs, seed: testSeed() },
  );

export const cases: Case[] = [
  {
    name: "any thrown value can be encoded, shown and tested",
    run: () => property(150, () => checkThrown(thrown())),
  },
  {
    name: "a failure with any field replaced can be encoded, shown and tested",
    run: () => {
      for (const plan of everyHostileField) {
        try {
          checkThrown(hostile(plan));
        } catch (e) {
          throw new Error(JSON.stringify(plan), { cause: e });
        }
      }
    },
  },
  {
    name: "readable parts of a failure are kept",
    run: () => {
      const circle = new ApplicationFailure("circular", { type: "C", nonRetryable: true });
      Object.defineProperty(circle, "cause", { value: circle });
      const first = checkFailure(encodeFailure(circle));
      equal(first.message, "circular");
      equal(
        first.failureInfo.case === "applicationFailureInfo" && first.failureInfo.value.type,
        "C",
      );
      match(first.cause!.message, /circular cause/);

      const dropped = new ApplicationFailure("no", {
        type: "T",
        nonRetryable: true,
        details: [{
          toJSON: () => {
            throw new Error("tj");
          },
        }],
      });
      const second = checkFailure(encodeFailure(dropped));
      match(second.message, /^no \(its details were dropped: .*tj/);
      equal(
        second.failureInfo.case === "applicationFailureInfo" &&
          second.failureInfo.value.nonRetryable,
        true,
      );

      const long = checkFailure(
        encodeFailure(new Error("m".repeat(5e6), { cause: new Error("why") })),
      );
      match(long.message, /^m+\.\.\. \(\d+ more characters\)$/);
      equal(long.cause!.message, "why");

      const unreadable = new Error("x");
      Object.defineProperty(unreadable, "name", {
        get: () => {
          throw new Error("n");
        },
      });
      equal(checkFailure(encodeFailure(unreadable)).message, "x");

      const surrogate = checkFailure(encodeFailure(new ApplicationFailure("\ud800 lone \0")));
      equal(surrogate.message, "\ufffd lone \0");
    },
  },
  {
    name: "a repeatedly decoded and wrapped failure stays within the core's limits",
    run: async () => {
      let bytes = encodeFailure(new ApplicationFailure("0"));
      for (let i = 1; i < 200; i++) {
        const read = new TemporalFailure("read");
        read.failure = bytes;
        bytes = encodeFailure(new ApplicationFailure(String(i), { cause: read }));
        checkFailure(bytes);
      }
    },
  },
  {
    name:
      "run: a thrown value fails the workflow or its task, and the next task reports the reason",
    run: () =>
      property(60, async () => {
        const value = thrown();
        const d = await drive(thrower);
        await d.task();
        const failed = d.server.closed?.failure ?? d.server.taskFailure?.failure;
        ok(failed !== undefined, "there is a failure");
        equal(
          d.server.closed !== undefined,
          isA(value, TemporalFailure),
          "failures of the API fail the workflow, others its task",
        );
        ok(!/call stack|too much recursion/.test(failed!.message), failed!.message);
      }),
  },
  {
    name:
      "handlers, validators and queries that throw: callers get the failure, and the workflow continues",
    run: () =>
      property(40, async () => {
        const d = await drive(talker);
        await d.task();
        equal(d.server.taskFailure, undefined, d.server.taskFailure?.failure.message);
        d.server.signal("note");
        for (const name of ["ask", "ask_later", "ask_validated"]) d.server.update(name, name);
        await d.task();
        equal(d.server.taskFailure, undefined, d.server.taskFailure?.failure.message);
        for (const name of ["ask", "ask_later", "ask_validated"]) {
          const answer = d.server.updates.get(name);
          ok(answer?.failure !== undefined, `${name} completed with a failure`);
        }
        equal((await d.query("look")).ok, false);
        d.server.signal("end");
        await d.task();
        equal(await d.finish(), 0);
      }),
  },
  {
    name: "an unhandled rejection fails the task with its name, whatever its reason",
    run: () =>
      property(30, async () => {
        const d = await drive(loose);
        await d.task();
        const failure = d.server.taskFailure?.failure;
        if (isCancellation(thrown())) return;
        match(failure?.message ?? "", /unhandled promise rejection in a workflow/);
      }),
  },
];
