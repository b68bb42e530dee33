// Starts an order and prints its result: deno task order book 2
import { parseArgs } from "@std/cli/parse-args";
import { Client } from "temporalex/client";
import { Connection, loadClientConnectConfig } from "temporalex/temporal";
import { order } from "./workflows.ts";

const args = parseArgs(Deno.args, {
  string: ["id", "task-queue"],
  default: { id: crypto.randomUUID(), "task-queue": "orders", "packing-ms": 100 },
}) as unknown as {
  _: [item?: string, count?: number];
  id: string;
  "task-queue": string;
  "packing-ms": number;
};
const [item = "book", count = 1] = args._;
const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
await using connection = await Connection.connect({ ...connectionOptions, namespace });
const client = new Client({ service: connection, namespace, taskQueue: args["task-queue"] });
const wanted = { item: String(item), count: Number(count), packingMs: Number(args["packing-ms"]) };
// The id makes it one order, however often this is called with it.
const handle = await client.start(order, {
  id: args.id,
  args: [wanted],
  idConflictPolicy: "USE_EXISTING",
});
console.log(JSON.stringify(await handle.result()));
