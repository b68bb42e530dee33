// usage: REALM_CODE_CACHE=file node tools/lib/realm_code_cache.mjs dist
// Starts a realm of dist/, runs and replays a workflow in it, and waits until the realm has written
// the code cache of its script (tools/lib/realm_bundle.mjs). What ran is in the cache as bytecode.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { env } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const MOST_MS = 60_000;
const PROGRAM = `
import { condition, defineSignal, proxyActivities, setHandler, sleep } from "@temporalio/workflow";
const { work } = proxyActivities({ startToCloseTimeout: "1m" });
export async function Sample(rounds) {
  let open = false;
  setHandler(defineSignal("open"), () => void (open = true));
  await condition(() => open, "1s");
  for (let i = 0; i < rounds; i++) await Promise.all([sleep(10), sleep(20)]);
  return { open, rounds };
}
`;

const [dist] = process.argv.slice(2);
const cache = env.REALM_CODE_CACHE ?? "";
const { harness } = await import(
  pathToFileURL(join(dist, "tests/unit/realm/realm_support.js")).href
);
const { realm, start } = await harness({
  workflows: "/app/main.ts",
  sources: { "/app/main.ts": PROGRAM },
});
const run = start("Sample", { args: [3] });
await run.auto();
await realm.replay("wf", run.server.history());
const until = Date.now() + MOST_MS;
while (!existsSync(cache) && Date.now() < until) await sleep(20);
await realm.dispose();
if (!existsSync(cache)) throw new Error("the realm did not write its code cache");
