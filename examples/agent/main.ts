// An agent with a mock model: two steps of tools, a person who approves one of two refunds, and a
// model that fails once.
import { open, silentLogger } from "temporalex";
import * as activities from "./activities.ts";
import { agent, decide, pending } from "./workflow.ts";

export async function run(say: (line: string) => void): Promise<unknown> {
  const app = await open({
    workflows: new URL("./workflow.ts", import.meta.url),
    activities,
    logger: silentLogger,
  });
  try {
    const question = "The cups of o-1 and o-2 are broken.";
    const handle = await app.client.start(agent, { id: "agent-1", args: [question] });
    // Signals wait in the workflow until the agent asks for the decisions.
    await handle.signal(decide, "o-1", true);
    await handle.signal(decide, "o-2", false);
    const text = await handle.result();
    say(text);
    const { calls } = activities.usage;
    return { text, calls, pending: await handle.query(pending) };
  } finally {
    await app.close();
  }
}
