// Texts of errors that UTF-8 cannot encode, such as a text that was cut within an emoji: the error
// arrives with a replacement character, and nothing is held.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../../ts/mod.ts";
import { TestEnvironment } from "../../../ts/testing/mod.ts";
import {
  activities,
  ApplicationFailure,
  on,
  publishState,
  query,
  receive,
  reply,
  signal,
  stop,
  update,
  workflow,
} from "../../../ts/workflow/mod.ts";

const LONE = "a\ud800b";
const failure = () =>
  new ApplicationFailure(LONE, { type: LONE, details: [LONE], nonRetryable: true });

const fails = workflow("Fails", () => Promise.reject(failure()));
const work = workflow("Work", async () => {
  const acts = activities<{ work(): string }>({ startToClose: "1m" });
  return await acts.work().catch((error: { cause: Error }) => error.cause.message);
});
const reject = update<[], string>("reject");
const fail = update<[], string>("fail");
const done = signal("done");
const ask = query<string>("ask");
const room = workflow("Room", {
  messages: { reject, fail, done, ask },
  queries: {
    ask: () => {
      throw failure();
    },
  },
  async run() {
    publishState(1);
    return await receive(0, [
      on(reject, (_, state) => reply("", state), {
        validate: () => {
          throw failure();
        },
      }),
      on(fail, () => {
        throw failure();
      }),
      on(done, (_, state) => stop(state)),
    ]);
  },
});

/** Messages of an error and its causes. */
const messagesOf = (error: unknown): string[] =>
  error instanceof Error ? [error.message, ...messagesOf(error.cause)] : [];
const hasReplacement = (error: unknown): boolean =>
  messagesOf(error).some((text) => text.includes("a\ufffdb"));

test("errors with lone surrogates reach the callers of workflows, activities, updates and queries", async () => {
  const env = await TestEnvironment.create({ logger: silentLogger });
  try {
    const acts = { work: () => Promise.reject(failure()) };
    await env.runWorker(
      { workflows: [fails, work, room], activities: acts, logger: silentLogger },
      async () => {
        const { client } = env;
        await assert.rejects(client.execute(fails, { id: "fails" }), hasReplacement);
        assert.equal(await client.execute(work, { id: "work" }), "a\ufffdb");
        const handle = await client.start(room, { id: "room" });
        await assert.rejects(handle.update(reject), hasReplacement);
        await assert.rejects(handle.update(fail), hasReplacement);
        await assert.rejects(handle.query(ask), hasReplacement);
        await handle.signal(done);
        assert.equal(await handle.result(), 0);
      },
    );
  } finally {
    await env.dispose();
  }
});
