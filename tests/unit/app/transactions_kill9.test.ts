// A process that is killed at any moment between transactions (tests/faults/crash/transactions).
// `tools/soak/transaction_kills.ts` runs the long loop.
// takes: 24 s
// runtime: node (long; shorter files of this room run in each runtime)
import { join } from "node:path";
import { test } from "node:test";
import { transactionLoop } from "../../faults/crash/transactions/loop.ts";
import { inFolder } from "../engine/support/stores.ts";

test("transactions around kill -9 are whole and in order, and acknowledged ones are kept", () =>
  inFolder(async (folder) => {
    await transactionLoop(join(folder, "transactions.sqlite"), 8, Math.random);
  }));
