// The sticky cache of a worker: what is new comes alone, what left it is replayed.
import assert from "node:assert/strict";
import type { RawService } from "../../ts/service/raw.ts";
import {
  noreply,
  on,
  publishState,
  query,
  receive,
  reply,
  signal,
  sleep,
  stop,
  update,
  workflow,
} from "../../ts/workflow/mod.ts";
import type { Setting, Suite } from "../support/services.ts";
import { done, quick } from "./worker_programs.ts";

const add = update<[n: number], number>("add");

const sum = query<number>("sum");

const adder = workflow("Adder", {
  queries: { sum: () => 0 },
  async run(start: number) {
    const state = await receive({ n: start }, [
      on(add, ([n], s) => reply(s.n + n, { n: s.n + n })),
      on(done, (_, s) => stop(s)),
    ]);
    await sleep(1);
    return Number(await quick.work(String(state.n)));
  },
});

/** Counts the history bytes that reach workers: a replay shows in them. */
function countingService(inner: RawService) {
  const bytes = { tasks: 0, total: 0 };
  const service: RawService = {
    losesCancelledPolls: inner.losesCancelledPolls === true,
    async call(method, request, options) {
      const response = await inner.call(method, request, options);
      if (method === "pollWorkflowTaskQueue" && response.length > 0) {
        bytes.tasks++;
        bytes.total += response.length;
      }
      return response;
    },
  };
  return { service, bytes };
}

const total = query<number>("total");

const noted = signal<[n: number]>("noted");

const publishes = workflow("Publishes", {
  queries: { total: (published: number) => published },
  async run() {
    const publish = (n: number) => {
      publishState(n);
      return n;
    };
    return await receive(publish(0), [
      on(add, ([n], s) => reply(s + n, publish(s + n)), {
        validate: ([n]) => {
          if (n < 0) throw new Error("only more");
        },
      }),
      on(noted, ([n], s) => noreply(publish(s + n))),
      on(done, (_, s) => stop(s)),
    ]);
  },
});

const manyWorkflows = (cachedWorkflows: number) => async (t: Setting) => {
  const { service, bytes } = countingService(t.service);
  const work = (input: string) => input;
  await t.work({ service, workflows: [adder], activities: { work }, cachedWorkflows }, async () => {
    const handles = await Promise.all(
      Array.from({ length: 12 }, (_, i) => t.client.start(adder, { id: t.id(`a${i}`), args: [i] })),
    );
    for (let round = 1; round <= 3; round++) {
      const results = await Promise.all(handles.map((handle) => handle.update(add, round)));
      assert.deepEqual(results, handles.map((_, i) => i + round * (round + 1) / 2));
    }
    for (const handle of handles) assert.equal(await handle.query(sum), 0);
    await Promise.all(handles.map((handle) => handle.signal(done)));
    assert.deepEqual(
      await Promise.all(handles.map((handle) => handle.result())),
      handles.map((_, i) => i + 6),
    );
  });
  assert.ok(bytes.tasks > 0);
};

const messagesAtOnce = (cachedWorkflows: number) => async (t: Setting) => {
  const failed: string[] = [];
  const events = {
    workflowTaskFailed: ({ message }: { message: string }) => void failed.push(message),
  };
  await t.work({ workflows: [publishes], cachedWorkflows, events }, async () => {
    const handles = await Promise.all(
      Array.from({ length: 25 }, (_, i) => t.client.start(publishes, { id: t.id(`p${i}`) })),
    );
    await Promise.all(handles.map(async (handle) => {
      for (let round = 1; round <= 4; round++) {
        const [first, , seen, refused, again] = await Promise.allSettled([
          handle.update(add, 1),
          handle.signal(noted, 1),
          handle.query(total),
          handle.update(add, -1),
          handle.query(total),
        ]);
        assert.equal(first.status, "fulfilled", String((first as PromiseRejectedResult).reason));
        for (const answer of [seen, again]) {
          assert.ok(
            answer.status === "fulfilled",
            String((answer as PromiseRejectedResult).reason),
          );
          assert.ok(answer.value >= 2 * (round - 1) && answer.value <= 2 * round);
        }
        assert.match(String((refused as PromiseRejectedResult).reason), /only more/);
        assert.equal(await handle.query(total), 2 * round);
      }
      await handle.signal(done);
      assert.equal(await handle.result(), 8);
      assert.equal(await handle.query(total), 8);
    }));
  });
  assert.deepEqual(failed, []);
};

export const cacheTests: Suite = {
  ...Object.fromEntries(
    [0, 1, 1000].map((
      cachedWorkflows,
    ) => [`many workflows with ${cachedWorkflows} cached`, manyWorkflows(cachedWorkflows)]),
  ),

  "a cached run gets only new events; an evicted one is replayed, without a visible difference":
    async (t) => {
      const sizes = async (cachedWorkflows: number) => {
        const { service, bytes } = countingService(t.service);
        await t.work({
          service,
          workflows: [adder],
          activities: { work: (input: string) => input },
          cachedWorkflows,
        }, async () => {
          const handle = await t.client.start(adder, {
            id: t.id(`size-${cachedWorkflows}`),
            args: [0],
          });
          for (let i = 0; i < 20; i++) assert.equal(await handle.update(add, 1), i + 1);
          await handle.signal(done);
          assert.equal(await handle.result(), 20);
        });
        return bytes.total;
      };
      const [without, withCache] = [await sizes(0), await sizes(10)];
      assert.ok(without > withCache * 3, `${without} bytes without a cache, ${withCache} with one`);
    },

  ...Object.fromEntries(
    [1, 5].map((
      cachedWorkflows,
    ) => [
      `updates, signals and queries at once, with ${cachedWorkflows} of 25 runs cached: nothing is lost or applied twice`,
      messagesAtOnce(cachedWorkflows),
    ]),
  ),

  "a history of many pages is fetched and replayed by the next worker": async (t) => {
    const pages = { fetched: 0 };
    const service: RawService = {
      losesCancelledPolls: t.service.losesCancelledPolls === true,
      call(method, request, options) {
        if (method === "getWorkflowExecutionHistory") pages.fetched++;
        return t.service.call(method, request, options);
      },
    };
    const settings = { workflows: [adder], activities: { work: (input: string) => input } };
    const handle = await t.client.start(adder, { id: t.id("long"), args: [0] });
    await t.work(settings, async () => {
      for (let i = 0; i < 250; i++) await handle.update(add, 1);
    });
    assert.ok((await handle.describe()).historyLength > 1200);
    await t.work({ ...settings, service }, async () => {
      assert.equal(await handle.update(add, 1), 251);
      await handle.signal(done);
      assert.equal(await handle.result(), 251);
    });
    // How much of it comes with the task is the service's business.
    if (!t.embedded) assert.ok(pages.fetched > 0);
  },

  "a workflow moves from a stopped worker to another one": async (t) => {
    const settings = { workflows: [adder], activities: { work: (input: string) => input } };
    const handle = await t.client.start(adder, { id: t.id("moves"), args: [1] });
    await t.work(settings, async () => void assert.equal(await handle.update(add, 1), 2));
    await t.work(settings, async () => {
      assert.equal(await handle.update(add, 1), 3);
      await handle.signal(done);
      assert.equal(await handle.result(), 3);
    });
  },
};
