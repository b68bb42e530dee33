// TypeScript's error for a wrong call must be about the wrong value, in every supported version: a
// comment next to each line has a part of the expected message. (TypeScript 7 reports only the last
// overload.) Read by tests/system/package/type_messages.mjs.
import type { Client } from "temporalex/client";
import {
  executeChild,
  externalWorkflow,
  query,
  signal,
  spawn,
  startChild,
  update,
  workflow,
} from "temporalex/workflow";

const addItem = update<[sku: string, count: number], number>("add_item");
const checkout = signal<[at: Date]>("checkout");
const status = query<string, [verbose: boolean]>("status");
const cart = workflow("Cart", async (customer: { name: string }) => customer.name.length);

export async function client(client: Client): Promise<void> {
  await client.start(cart, { id: "1", args: [7] }); // says: Type 'number' is not assignable to type '{ name: string; }'
  await client.start(cart, { id: "1" }); // says: Property 'args' is missing
  await client.start(cart, { args: [{ name: "ada" }] }); // says: Property 'id' is missing
  await client.execute(cart, { id: "1", args: [{ nome: "ada" }] }); // says: 'nome' does not exist in type '{ name: string; }'
  await client.signalWithStart(cart, {
    id: "1",
    args: [{ name: "ada" }],
    signal: checkout,
    signalArgs: [7], // says: Type 'number' is not assignable to type 'Date'
  });
  await client.executeUpdateWithStart(cart, {
    id: "1",
    args: [{ name: "ada" }],
    update: addItem,
    updateArgs: ["a", "b"], // says: Type 'string' is not assignable to type 'number'
  });
  const handle = client.getHandle(cart, "1");
  await handle.update(addItem, 7, 1); // says: Argument of type '[7, 1]' is not assignable to parameter of type '[sku: string, count: number]'
  await handle.update(addItem, "a"); // says: Source has 1 element(s) but target requires 2
  await handle.update(checkout, new Date()); // says: Type '"signal"' is not assignable to type '"update"'
  await handle.executeUpdate(addItem, { args: ["a", "b"] }); // says: Type 'string' is not assignable to type 'number'
  await handle.startUpdate(addItem, { args: ["a", 1] }); // says: Property 'waitFor' is missing
  await handle.signal(checkout, "now"); // says: Type 'string' is not assignable to type 'Date'
  await handle.query(status, "yes"); // says: Type 'string' is not assignable to type 'boolean'
  await client.schedule.create({
    scheduleId: "s",
    spec: {},
    action: { type: "startWorkflow", workflowType: cart, args: [7] }, // says: Type 'number' is not assignable to type '{ name: string; }'
  });
  client.getHandle("1"); // says: Expected 2-3 arguments, but got 1
}

export async function run(): Promise<void> {
  await executeChild(cart, { args: [7] }); // says: Type 'number' is not assignable to type '{ name: string; }'
  const child = await startChild(cart, { args: ["ada"] }); // says: Type 'string' is not assignable to type '{ name: string; }'
  await child.signal(checkout, "now"); // says: Type 'string' is not assignable to type 'Date'
  await spawn(cart, 7); // says: type '{ name: string; }'
  await externalWorkflow("1").signal(checkout, 7); // says: Type 'number' is not assignable to type 'Date'
}
