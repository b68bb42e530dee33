// What must not compile.
import { open } from "temporalex";
import { on, query, receive, reply, signal, stop, update, workflow } from "temporalex/workflow";
import { addItem, cart, checkout, status } from "./workflows.ts";

const app = await open({ workflows: new URL("./workflows.ts", import.meta.url) });
// @ts-expect-error: an argument of another type
await app.client.start(cart, { id: "1", args: [7] });
// @ts-expect-error: an argument is missing
await app.client.start(cart, { id: "1" });
// @ts-expect-error: without an id
await app.client.start(cart, { args: ["ada"] });
const handle = await app.client.start(cart, { id: "1", args: ["ada"] });
// @ts-expect-error: an update takes text here
await handle.update(addItem, 7);
// @ts-expect-error: a signal is not an update
await handle.update(checkout);
// @ts-expect-error: this signal has no arguments
await handle.signal(checkout, "now");
// @ts-expect-error: a query's answer is what was declared
const answer: number = await handle.query(status);
// @ts-expect-error: the result is the workflow's
const result: string[] = await handle.result();
// @ts-expect-error: an option that does not exist
await open({ pat: "x.sqlite" });

const add = update<[n: number], number>("add");
const end = signal("end");
workflow("Misuses", {
  // @ts-expect-error: the declared member "length" has no handler
  messages: [query<number>("length")],
  async run() {
    return await receive(0, [
      // @ts-expect-error: an update's handler must answer
      on(add, ([n], sum: number) => stop(sum + n)),
      // @ts-expect-error: a signal's handler has no caller to reply to
      on(end, (_, sum: number) => reply(sum, sum)),
    ]);
  },
});
export { answer, result };
