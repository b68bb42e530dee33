// A function that a tab calls in the leader: no later leader gets it after its call has failed.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ToLeader } from "../../../ts/browser/messages.ts";
import { TabService } from "../../../ts/browser/tab_service.ts";
import { Code, ServiceError } from "../../../ts/service/raw.ts";

function routeTo(address: string) {
  const sent: ToLeader[] = [];
  return { sent, route: { address, send: (message: ToLeader) => void sent.push(message) } };
}

const service = () => new TabService({ forClients: true });
const bytes = new Uint8Array([1]);

test("a function whose call has failed is not sent to a later leader", async () => {
  const tab = service();
  await assert.rejects(tab.callOther("f", bytes, { timeoutMs: 1 }), (error) => {
    assert.ok(error instanceof ServiceError);
    assert.equal(error.code, Code.DEADLINE_EXCEEDED);
    assert.equal(error.message, "no leader tab was found in time");
    return true;
  });
  const stop = new AbortController();
  const aborted = tab.callOther("f", bytes, { signal: stop.signal });
  stop.abort();
  await assert.rejects(aborted, /canceled by the caller/);
  assert.equal(tab.waiting, false);
  const { sent, route } = routeTo("a");
  tab.follow(route);
  assert.deepEqual(sent, []);
  await assert.rejects(
    tab.callOther("f", bytes, { timeoutMs: 1 }),
    /the leader tab did not respond/,
  );
  assert.equal(sent.length, 1);
  tab.end(new ServiceError(Code.UNAVAILABLE, "over"));
});

test("a timeout of more than 24 days is not over at once", async () => {
  const tab = service();
  const { sent, route } = routeTo("a");
  tab.follow(route);
  const done = tab.callOther("f", bytes, { timeoutMs: 2 ** 40 });
  await new Promise((resolve) => setTimeout(resolve, 10));
  tab.receive({ k: "answer", to: tab.address, id: sent[0]!.id, value: bytes } as never);
  assert.deepEqual(await done, bytes);
  tab.end(new ServiceError(Code.UNAVAILABLE, "over"));
});
