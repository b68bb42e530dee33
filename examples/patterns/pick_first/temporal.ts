// Pick first: asks several providers at once, takes the first response and cancels the others.
import { CancellationScope, proxyActivities, sleep } from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const { quote } = proxyActivities<typeof activities>({
  startToCloseTimeout: "1 hour",
  heartbeatTimeout: "10s",
});

export type Providers = { readonly [name: string]: number };

export async function firstQuote(providers: Providers, limitMs: number): Promise<string> {
  const scope = new CancellationScope();
  try {
    return await scope.run(() =>
      Promise.race([
        ...Object.entries(providers).map(([name, seconds]) => quote(name, seconds)),
        sleep(limitMs).then(() => "no quote"),
      ])
    );
  } finally {
    scope.cancel();
  }
}
