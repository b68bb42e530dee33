// Scenarios of patterns with several workflows: locks, requests, windows of children.
import assert from "node:assert/strict";
import * as printer from "../../../examples/patterns/mutex/activities.ts";
import { HOUR, MINUTE, type Pattern } from "./stage.ts";

interface Use {
  readonly began: number;
  readonly ended: number;
}

const mutex: Pattern = {
  activities: printer,
  async check({ client, advance, calls }) {
    const lock = await client.start("mutex", { id: "printer", args: [HOUR] });
    const start = (name: string, ms: number) =>
      client.start("printDocument", { id: `print-${name}`, args: [name, ms] });
    const handles = await Promise.all(["a", "b", "c"].map((name) => start(name, 10 * MINUTE)));
    const uses = await Promise.all(handles.map((handle) => handle.result())) as Use[];
    uses.sort((one, other) => one.began - other.began);
    for (const [i, { began }] of uses.entries()) {
      assert.ok(i === 0 || began >= uses[i - 1]!.ended, "the uses do not overlap");
    }
    assert.deepEqual(calls.splice(0).sort(), ["print(a)", "print(b)", "print(c)"]);

    const lost = await start("lost", 5 * HOUR);
    await advance(MINUTE);
    const gone = await start("gone", MINUTE);
    const next = await start("next", MINUTE);
    const canceled = await start("canceled", MINUTE);
    await advance(MINUTE);
    await gone.terminate(); // while it waits for the lock
    await lost.terminate(); // while it has the lock, which is never released
    await advance(HOUR);
    await next.result();
    assert.deepEqual(calls.slice(0, 2), ["print(lost)", "print(next)"]);
    await canceled.result();

    const held = await start("held", 5 * HOUR);
    await advance(MINUTE);
    await held.cancel();
    await held.result().catch(() => {});
    const after = await (await start("after", MINUTE)).result() as Use;
    assert.ok(after.began < after.ended, "a canceled holder releases the lock");
    await lock.terminate();
  },
};

const requestResponse: Pattern = {
  async check({ client }) {
    const expert = await client.start("expert", { id: "expert" });
    const ask = (id: string, who: string, questions: string[]) =>
      client.execute("asker", { id, args: [who, questions] });
    assert.deepEqual(await ask("asker-short", "expert", ["one", "three"]), [
      ...["one is 3 long", "three is 5 long"],
    ]);
    assert.deepEqual(
      await ask("asker-long", "expert", ["thirteen word", "one"]),
      ["no answer", "one is 3 long"],
      "the late response is not taken for that of the next request",
    );
    assert.deepEqual(await ask("asker-lost", "absent", ["one"]), ["absent is not available"]);
    await expert.signal("retire");
    assert.equal(await expert.result(), 4);
  },
};

const slidingWindow: Pattern = {
  async check({ client, now }) {
    const began = now();
    const items = [3, 1, 1, 1, 2].map((hours, i) => ({
      name: i === 1 ? "bad 1" : `item ${i}`,
      ms: hours * HOUR,
    }));
    const all = client.execute("processAll", { id: "window-all", args: [items, 2] });
    assert.deepEqual(await all, { processed: 4, failed: ["bad 1"] });
    assert.equal(now() - began, 5 * HOUR, "two at a time, without a wait for the slowest");
  },
};

export const several: { readonly [name: string]: Pattern } = {
  mutex,
  request_response: requestResponse,
  sliding_window: slidingWindow,
};
