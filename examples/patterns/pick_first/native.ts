// Pick first: asks several providers at once, takes the first response and cancels the others.
import { activities, on, select, timer, workflow } from "temporalex/workflow";

const { quote } = activities<typeof import("./activities.ts")>({
  startToClose: "1 hour",
  heartbeat: "10s",
});

export type Providers = { readonly [name: string]: number };

export const firstQuote = workflow("firstQuote", (providers: Providers, limitMs: number) => {
  const arms = Object.entries(providers).map(([name, seconds]) =>
    on(() => quote(name, seconds), (text) => text)
  );
  return select(arms.concat(timer(limitMs, () => "no quote")));
});
