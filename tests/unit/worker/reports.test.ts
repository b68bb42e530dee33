// Reports of a worker: which refusals are asked again, for how long, and with what pauses.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApplicationFailure } from "../../../ts/converter/failures.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import type { Timers } from "../../../ts/base/timers.ts";
import type { MessageCodec } from "../../../ts/codec/message_codec.ts";
import { PayloadCodecError } from "../../../ts/codec/codec.ts";
import { loggable } from "../../../ts/codec/loggable.ts";
import { report, unencodable } from "../../../ts/worker/workflow/reports.ts";

/**
 * Sends one report to a service that refuses `times` times; how often it was asked, how long that
 * took, and how it ended.
 */
async function sent(error: Error, times: number) {
  let now = 0, asked = 0;
  const timers: Timers = {
    now: () => now,
    after(ms, fire) {
      now += ms;
      const timer = setTimeout(fire, 0);
      return () => clearTimeout(timer);
    },
  };
  const service = {
    call: () => ++asked > times ? Promise.resolve(new Uint8Array(0)) : Promise.reject(error),
  };
  const context = { service, codec: undefined, timers, logger: silentLogger };
  const outcome = await report(context, "respondWorkflowTaskCompleted", new Uint8Array(0)).then(
    () => "done",
    (e) => e,
  );
  return { outcome, asked, ms: now };
}

const exhausted = (cause: string) =>
  new ServiceError(Code.RESOURCE_EXHAUSTED, "too much", "ResourceExhausted", { cause });

test("a report to an unavailable, slow or busy service is retried until it succeeds", async () => {
  const passing = [
    new ServiceError(Code.UNAVAILABLE, "away"),
    new ServiceError(Code.DEADLINE_EXCEEDED, "slow"),
    exhausted("6"),
    new ServiceError(Code.INTERNAL, "something went wrong"),
    new ServiceError(Code.UNKNOWN, "who knows"),
  ];
  for (const error of passing) {
    const { outcome, asked } = await sent(error, 4);
    assert.equal(outcome, "done", error.message);
    assert.equal(asked, 5);
  }
});

test("retries to a busy service are slower than to an unavailable one", async () => {
  const [busy, away] = [
    await sent(exhausted("6"), 5),
    await sent(new ServiceError(Code.UNAVAILABLE, "away"), 5),
  ];
  assert.ok(busy.ms > 2 * away.ms, `${busy.ms} and ${away.ms} ms`);
});

test("a report fails after a minute of retries, and at once on a permanent error", async () => {
  const away = new ServiceError(Code.UNAVAILABLE, "away");
  const { outcome, asked, ms } = await sent(away, Infinity);
  assert.equal(outcome, away);
  assert.ok(asked > 10 && ms > 60_000 && ms < 70_000, `${asked} times in ${ms} ms`);
  const broken = await sent(new ServiceError(Code.INTERNAL, "each time"), Infinity);
  assert.ok(
    broken.asked > 3 && broken.ms >= 5000 && broken.ms < 9000,
    `${broken.asked} times in ${broken.ms} ms`,
  );
  for (
    const error of [
      new ServiceError(Code.NOT_FOUND, "gone"),
      exhausted("7"),
      new ServiceError(Code.RESOURCE_EXHAUSTED, "large"),
    ]
  ) {
    assert.deepEqual(await sent(error, 1), { outcome: error, asked: 1, ms: 0 });
  }
});

test("errors are logged with messages, or only with names if texts are encoded", () => {
  const plain = new TypeError("the card of Ada");
  const hiding = { hidesText: true } as MessageCodec;
  assert.equal(loggable(plain, undefined), plain);
  assert.equal(loggable(plain, { hidesText: false } as MessageCodec), plain);
  assert.equal(loggable(plain, hiding), "TypeError");
  assert.equal(loggable("the card of Ada", hiding), "string");
  const service = new ServiceError(Code.NOT_FOUND, "gone");
  assert.equal(loggable(service, hiding), service);
  assert.equal(
    loggable(new ApplicationFailure("the card of Ada", { type: "Declined" }), hiding),
    "Declined",
  );
});

test("a failure that cannot be encoded keeps its message, type and delay, and loses its details", () => {
  const codec = { hidesText: false } as MessageCodec;
  const hiding = { hidesText: true } as MessageCodec;
  const problem = new PayloadCodecError("encode", "Failure.details", "it threw", "no key for Ada");
  const why = "the payload codec could not encode Failure.details: it threw";
  const declined = new ApplicationFailure("the card of Ada", {
    ...{ type: "Declined", nonRetryable: true, nextRetryDelayMs: 5_000 },
    details: ["of Ada"],
  });
  const sent = unencodable(declined, problem, codec);
  assert.equal(sent.message, `the card of Ada (its details were dropped: ${why}: no key for Ada)`);
  assert.deepEqual([sent.type, sent.nonRetryable, sent.nextRetryDelayMs, sent.details], [
    "Declined",
    true,
    5_000,
    [],
  ]);
  assert.equal(unencodable(declined, problem, hiding).message, why);
  const plain = unencodable(new TypeError("the card of Ada"), problem, codec);
  assert.deepEqual([plain.type, plain.nonRetryable, plain.nextRetryDelayMs], [
    "TypeError",
    false,
    undefined,
  ]);
  // The failure is the codec's failure itself, or no error at all.
  for (const error of [problem, "the card of Ada"]) {
    const own = unencodable(error, problem, codec);
    assert.deepEqual([own.message, own.type], [`${why}: no key for Ada`, "PayloadCodecError"]);
  }
});
