// An agent: the model decides the next step, the workflow runs it and records it. A tool that moves
// money needs the approval of a person.
import {
  activities,
  ActivityFailure,
  ApplicationFailure,
  noreply,
  on,
  parallel,
  publishState,
  query,
  receive,
  type Settled,
  signal,
  stop,
  workflow,
} from "temporalex/workflow";
import type { Message, ToolCall } from "./model.ts";

const steps = activities<typeof import("./activities.ts")>({
  startToClose: "1 minute",
  retry: { initialInterval: "100ms", maximumAttempts: 5 },
});

export const decide = signal<[order: string, approved: boolean]>("decide");
export const pending = query<string[]>("pending");

type Decisions = { readonly [order: string]: boolean };
const MAX_STEPS = 10;

/** Waits until each refund is decided, at most a day. `known`: earlier decisions. */
async function decisionsOn(calls: readonly ToolCall[], known: Decisions): Promise<Decisions> {
  const orders = calls.filter(({ tool }) => tool === "refund").map(({ order }) => order);
  if (orders.every((order) => order in known)) return known;
  publishState(orders);
  const { state } = await receive<Decisions>(known, [
    on(decide, ([order, approved], before) => {
      const all = { ...before, [order]: approved };
      return orders.every((each) => each in all) ? stop(all) : noreply(all);
    }),
  ], { timeout: "1 day" });
  publishState([]);
  return state;
}

/** A failed tool is a result, too: the model decides what to do. */
function textOf(result: Settled<string>): string {
  if (result.ok) return result.value;
  if (!(result.error instanceof ActivityFailure)) throw result.error;
  return `failed: ${String(result.error.cause)}`;
}

export const agent = workflow("Agent", {
  messages: { decide },
  queries: { pending: (published: string[]) => published },
  async run(question: string): Promise<string> {
    publishState([]);
    const transcript: Message[] = [{ role: "user", text: question }];
    let decisions: Decisions = {};
    for (let i = 0; i < MAX_STEPS; i++) {
      const step = await steps.askModel(transcript);
      if (step.kind === "text") return step.text;
      decisions = await decisionsOn(step.calls, decisions);
      const results = await parallel(
        step.calls.map(({ tool, order }) => async () =>
          tool === "refund" && decisions[order] !== true
            ? `${tool} ${order} was not approved.`
            : await steps[tool](order)
        ),
      );
      for (const result of results) transcript.push({ role: "tool", text: textOf(result) });
    }
    throw new ApplicationFailure(`no result after ${MAX_STEPS} steps`, { type: "TooManySteps" });
  },
});
