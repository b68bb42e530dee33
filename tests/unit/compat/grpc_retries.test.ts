// Retry options of a program's connection: its functions say how often and when calls are repeated,
// and nothing else repeats them.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  isRetryableError,
  makeGrpcRetryInterceptor,
} from "../../../ts/compat/client/mod.ts";
import { retrying } from "../../../ts/compat/client/grpc_retry.ts";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import { ScriptedService } from "../../support/scripted_service.ts";

/** A port that is closed. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("calls of a connection are repeated as makeGrpcRetryInterceptor's functions say", async () => {
  const asked: [string, number, number][] = [];
  const retries = makeGrpcRetryInterceptor({
    delayFunction(attempt, { code }) {
      asked.push(["delay", attempt, code]);
      return 1;
    },
    retryableDecider(attempt, { code }) {
      asked.push(["again", attempt, code]);
      return attempt < 3;
    },
  });
  const connection = Connection.lazy({
    address: `127.0.0.1:${await closedPort()}`,
    interceptors: [retries],
  });
  const client = new Client({ connection });
  await assert.rejects(client.workflow.start("w", { workflowId: "w", taskQueue: "q" }));
  const { UNAVAILABLE } = Code;
  assert.deepEqual(asked, [
    ["again", 1, UNAVAILABLE],
    ["delay", 1, UNAVAILABLE],
    ["again", 2, UNAVAILABLE],
    ["delay", 2, UNAVAILABLE],
    ["again", 3, UNAVAILABLE],
  ]);
  await connection.close();
});

test("repeated calls end with their success, their timeout and their signal", async () => {
  let failures = 0;
  const service = new ScriptedService().on("getSystemInfo", () => {
    if (failures-- > 0) throw new ServiceError(Code.ABORTED, "not now");
    return {};
  });
  const calls = () => service.calls.length;
  const options = { ...defaultGrpcRetryOptions(), delayFunction: () => 1 };
  failures = 2;
  await retrying(service, options).call("getSystemInfo", new Uint8Array(0));
  assert.equal(calls(), 3);
  failures = Infinity;
  await assert.rejects(
    retrying(service, options).call("getSystemInfo", new Uint8Array(0)),
    /not now/,
  );
  assert.equal(calls(), 3 + 10, "ten attempts by default");
  const slow = retrying(service, { ...options, delayFunction: () => 60_000 });
  await assert.rejects(
    slow.call("getSystemInfo", new Uint8Array(0), { timeoutMs: 50_000 }),
    /not now/,
  );
  const given = new AbortController();
  const waiting = slow.call("getSystemInfo", new Uint8Array(0), { signal: given.signal });
  setTimeout(() => given.abort(), 10);
  await assert.rejects(waiting, /not now/);
  assert.equal(calls(), 3 + 10 + 2);
});

test("the default options equal those of the official SDK", () => {
  const status = { code: Code.UNAVAILABLE, details: "" };
  const { delayFunction, retryableDecider } = defaultGrpcRetryOptions({
    maxJitter: 0,
    maxAttempts: 2,
  });
  assert.deepEqual([delayFunction(1, status), delayFunction(50, status)].map(Math.round), [
    170,
    5000,
  ]);
  assert.equal(Math.round(delayFunction(1, { code: Code.RESOURCE_EXHAUSTED, details: "" })), 1700);
  assert.deepEqual([retryableDecider(1, status), retryableDecider(2, status)], [true, false]);
  assert.equal(
    isRetryableError({ code: Code.INTERNAL, details: "Received RST_STREAM with code 0" }),
    true,
  );
  assert.equal(isRetryableError({ code: Code.INTERNAL, details: "no" }), false);
});

test("calls of the operator service are retried as well", async () => {
  let calls = 0;
  const service = {
    call: () => Promise.reject(new Error("not called")),
    callOther(path: string) {
      if (++calls < 3) return Promise.reject(new ServiceError(Code.UNAVAILABLE, path));
      return Promise.resolve(new Uint8Array([1]));
    },
  };
  const { callOther } = retrying(service, { ...defaultGrpcRetryOptions(), delayFunction: () => 1 });
  assert.deepEqual(await callOther!("/x/y", new Uint8Array(0)), new Uint8Array([1]));
  assert.equal(calls, 3);
});
