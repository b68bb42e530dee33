// Standard Schema validation: a rejected update returns the issues to its caller and leaves no
// trace; a rejected signal is logged and dropped.
import { open, silentLogger, WorkflowUpdateRejectedError } from "temporalex";
import { addItem, close, discount, order } from "./workflow.ts";

export async function run(say: (line: string) => void): Promise<unknown> {
  const app = await open({
    workflows: new URL("./workflow.ts", import.meta.url),
    logger: silentLogger,
  });
  try {
    const handle = await app.client.start(order, { id: "o-1" });
    await handle.update(addItem, { sku: "book-1 ", quantity: 2 }); // the schema trims and shouts
    const refused = await handle.update(addItem, { sku: "book", quantity: 0.5 }).catch((error) =>
      error
    );
    if (!(refused instanceof WorkflowUpdateRejectedError)) throw new Error("it was to be refused");
    say(refused.message);
    await handle.signal(discount, 90);
    await handle.signal(discount, 10);
    await handle.signal(close);
    return { order: await handle.result(), refused: refused.message };
  } finally {
    await app.close();
  }
}
