// The language model of the example: a mock with fixed rules. Replace `nextStep` by a call of your
// provider; the workflow does not change.

export interface ToolCall {
  readonly tool: "findOrder" | "refund";
  readonly order: string;
}

export interface Message {
  readonly role: "user" | "tool";
  readonly text: string;
}

/** What the model wants: to call tools, or to end with a text. */
export type Step =
  | { readonly kind: "tools"; readonly calls: readonly ToolCall[] }
  | { readonly kind: "text"; readonly text: string };

/** The next step for a transcript. */
export function nextStep(transcript: readonly Message[]): Step {
  const [{ text: question }, ...results] = transcript as [Message, ...Message[]];
  const orders = [...question.matchAll(/\bo-\d+\b/g)].map(([order]) => order);
  if (orders.length === 0) return { kind: "text", text: "Which order do you mean?" };
  const call = (tool: ToolCall["tool"]): Step => ({
    kind: "tools",
    calls: orders.map((order) => ({ tool, order })),
  });
  if (results.length === 0) return call("findOrder");
  const isComplaint = /broken/.test(question);
  if (isComplaint && results.length === orders.length) return call("refund");
  return { kind: "text", text: results.slice(-orders.length).map(({ text }) => text).join(" ") };
}
