// Copies of runs on which the messages of transactions are tried: consecutive transactions of a batch
// share them while the copies equal the runs.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { EngineMethod } from "../../../ts/core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { ENGINE_METHODS } from "../../../ts/engine/methods.ts";
import { CommitTransaction, Transactions } from "../../../ts/engine/transactions.ts";
import type {
  MessageHost,
  TransactionCall,
  TransactionMethod,
} from "../../../ts/engine/transaction_messages.ts";

const NO_BYTES = new Uint8Array(0);
const NAMES = new Map(Object.entries(ENGINE_METHODS).map(([name, number]) => [number, name]));

/** A host whose core accepts everything and logs the calls. */
function logged() {
  const log: string[] = [];
  const reply = { loads: [], replies: [{ body: NO_BYTES, error: undefined }] };
  const engine = {
    beginTrial: () => void log.push("copy"),
    tryRequest: (
      _id: number,
      method: EngineMethod,
    ) => (log.push(`try ${NAMES.get(method)}`), reply),
    endTrial: () => void log.push("drop"),
    request: (_id: number, method: EngineMethod) => void log.push(`enter ${NAMES.get(method)}`),
    entered: (id: number) => id === 0 ? { loads: [], replies: [] } : reply,
  };
  let id = 1;
  const host = { engine, nowMs: () => 0, reserveId: () => id++ } as unknown as MessageHost;
  const transactions = new Transactions(
    host,
    new CommitTransaction(undefined),
    ({ call }) => ({ call }),
  );
  const send = (methods: readonly TransactionMethod[], thrown?: Error) =>
    transactions.add((database) => {
      const { call } = database.workflows as { call: TransactionCall };
      for (const method of methods) call(method, NO_BYTES);
      if (thrown !== undefined) throw thrown;
    });
  return { log, transactions, send };
}

const signal = "signalWorkflowExecution", start = "startWorkflowExecution";

test("signals of many transactions of a batch are tried on the same copies", () => {
  const { log, transactions, send } = logged();
  for (let i = 0; i < 50; i++) void send([signal]);
  assert.equal(transactions.run(), undefined);
  assert.equal(log.filter((line) => line === "copy").length, 1);
  assert.equal(log.filter((line) => line === `enter ${signal}`).length, 50);
  assert.equal(log.at(-1), "drop");
  // The next batch may follow other changes of the runs.
  void send([signal]);
  transactions.run();
  assert.equal(log.filter((line) => line === "copy").length, 2);
});

test("a new run, and a transaction that threw, end the copies", async () => {
  const { log, transactions, send } = logged();
  void send([signal]);
  void send([start, signal]);
  const failed = assert.rejects(send([signal], new Error("no gold")), /no gold/);
  void send([signal]);
  assert.equal(transactions.run(), undefined);
  await failed;
  assert.deepEqual(log, [
    ...["copy", `try ${signal}`, `enter ${signal}`],
    // The copies have the run with another id than the engine will give it.
    ...[`try ${start}`, `try ${signal}`, "drop", `enter ${start}`, `enter ${signal}`],
    ...["copy", `try ${signal}`, "drop"],
    ...["copy", `try ${signal}`, `enter ${signal}`, "drop"],
  ]);
});
