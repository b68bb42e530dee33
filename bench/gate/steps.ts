// A program of `@temporalio/workflow` whose history is as long as is asked for: an activity and a
// timer in turn, an event with a value in each, as ordinary programs have them.
import { proxyActivities, sleep } from "@temporalio/workflow";

interface Order {
  readonly id: string;
  readonly lines: readonly { readonly item: string; readonly amount: number }[];
}

const { book } = proxyActivities<{ book(order: Order): Promise<Order> }>({
  startToCloseTimeout: "1 minute",
});

/** Books `steps` times, and waits after each second one. */
export async function steps(id: string, steps: number): Promise<number> {
  let amount = 0;
  for (let i = 0; i < steps; i++) {
    const { lines } = await book({
      id,
      lines: [{ item: `item ${i}`, amount: i }, { item: "postage", amount: 1 }],
    });
    for (const line of lines) amount += line.amount;
    if (i % 2 === 1) await sleep("1 hour");
  }
  return amount;
}
