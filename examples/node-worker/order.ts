// Starts an order and prints its result: npm run order -- book 2
import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import { Client } from "temporalex/client";
import { Connection, loadClientConnectConfig } from "temporalex/temporal";
import { order } from "./workflows.ts";

const { values, positionals: [item = "book", count = "1"] } = parseArgs({
  allowPositionals: true,
  options: {
    id: { type: "string", default: randomUUID() },
    "task-queue": { type: "string", default: "orders" },
    "packing-ms": { type: "string", default: "100" },
  },
});
const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
const connection = await Connection.connect({ ...connectionOptions, namespace });
try {
  const client = new Client({ service: connection, namespace, taskQueue: values["task-queue"] });
  const wanted = { item, count: Number(count), packingMs: Number(values["packing-ms"]) };
  // The id makes it one order, however often this is called with it.
  const handle = await client.start(order, {
    id: values.id,
    args: [wanted],
    idConflictPolicy: "USE_EXISTING",
  });
  console.log(JSON.stringify(await handle.result()));
} finally {
  await connection.close();
}
