// What the tab runs: a basket that takes updates and signals and asks the page for prices, one line
// at a time.
import {
  activities,
  noreply,
  on,
  publishState,
  query,
  receive,
  reply,
  signal,
  sleep,
  stop,
  update,
  workflow,
} from "temporalex/workflow";

const page = activities<{ price(article: string): Promise<number> }>({
  startToClose: "10s",
  retry: { initialInterval: "50ms", maximumInterval: "500ms" },
});

export const add = update<[article: string], number>("add");
export const mark = signal<[note: string]>("mark");
export const done = signal("done");
export const basket = query<
  { readonly articles: readonly string[]; readonly notes: readonly string[] }
>("basket");

export interface Bill {
  readonly articles: readonly string[];
  readonly notes: readonly string[];
  readonly total: number;
}

export const shopping = workflow("Shopping", {
  messages: { add, mark, done, basket },
  queries: { basket: (published: { articles: string[]; notes: string[] }) => published },
  async run(): Promise<Bill> {
    let state: { articles: string[]; notes: string[] } = { articles: [], notes: [] };
    publishState(state);
    state = await receive(state, [
      on(add, ([article], { articles, notes }) => {
        const next = { articles: [...articles, article], notes };
        publishState(next);
        return reply(next.articles.length, next);
      }),
      on(mark, ([note], { articles, notes }) => {
        const next = { articles, notes: [...notes, note] };
        publishState(next);
        return noreply(next);
      }),
      on(done, (_, state) => stop(state)),
    ]);
    let total = 0;
    for (const article of state.articles) total += await page.price(article);
    return { ...state, total };
  },
});

/** Steps with timers between them, each an activity of the page. */
export const walk = workflow("Walk", async (name: string, steps: number): Promise<number> => {
  let total = 0;
  for (let step = 0; step < steps; step++) {
    total += await page.price(`${name} ${step}`);
    await sleep(100);
  }
  return total;
});
