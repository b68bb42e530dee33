// Open runs of a real server move into a store by one command, and end there: with their messages,
// timers, attempts, heartbeats, children and back-offs.
// takes: 40 s
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { activityInfo, ApplicationFailure, heartbeat } from "../../../ts/activity/mod.ts";
import { Client } from "../../../ts/client/mod.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { checkStore, StoreReader } from "../../../ts/engine/maintenance/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { open } from "../../../ts/mod.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import {
  activities,
  executeChild,
  on,
  receive,
  reply,
  signal,
  sleep,
  stop,
  update,
  workflow,
} from "../../../ts/workflow/mod.ts";
import { run as runCommand } from "../../unit/cli/support/run.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer } from "./support/dev_server.ts";

const add = update<[string], number>("add_item");
const checkout = signal("checkout");
const cart = workflow("Cart", async (customer: string) => {
  const items = await receive<string[]>([], [
    on(add, ([sku], items) => reply(items.length + 1, [...items, sku])),
    on(checkout, (_, items) => stop(items)),
  ]);
  return { customer, items };
});
const family = workflow("Family", async (name: string) => {
  return await executeChild(cart, { id: `child-of-${name}`, args: [name] });
});
const naps = workflow("Naps", async (ms: number) => {
  await sleep(ms);
  return "rested";
});
/** Fails in the cluster; its later version, here, does not. */
const broken = (fixed: boolean) =>
  workflow(
    "Broken",
    () => fixed ? Promise.resolve("fixed") : Promise.reject(new TypeError("no")),
  );

interface Work {
  ship(order: string): Promise<[attempt: number, details: unknown]>;
}
const work = activities<Work>({
  startToClose: "1 minute",
  retry: { initialInterval: "50ms", maximumInterval: "100ms" },
});
const ships = workflow(
  "Ships",
  async (order: string) => await work.ship(order),
);

/** The activity of the cluster fails always, after a heartbeat. */
const ship = (arrives: boolean) => () => {
  const { attempt, heartbeatDetails } = activityInfo();
  if (arrives) return [attempt, heartbeatDetails];
  heartbeat(`mile ${attempt}`);
  throw new ApplicationFailure("flat tire");
};

const programs = (moved: boolean) => ({
  workflows: [cart, family, naps, broken(moved), ships],
  activities: { ship: ship(moved) },
  logger: silentLogger,
});

let server: DevServer, service: GrpcService, client: Client, folder: string;

before(async () => {
  if (noServer !== false) return;
  folder = mkdtempSync(join(tmpdir(), "temporalex-moved-"));
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
  client = new Client({ service, taskQueue: "main", logger: silentLogger });
});

after(async () => {
  service?.close();
  await server?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/** Runs in many states, whose worker has stopped. */
async function leaveOpenRuns(): Promise<number> {
  const worker = await Worker.create({
    service,
    taskQueue: "main",
    ...programs(false),
  });
  await worker.runUntil(async () => {
    const ada = await client.start(cart, { id: "ada", args: ["ada"] });
    assert.equal(await ada.update(add, "tea"), 1);
    const parent = await client.start(family, { id: "family", args: ["eve"] });
    const child = client.getHandle(cart, "child-of-eve");
    await until(
      "the child has begun",
      async () => await child.update(add, "milk") === 1,
      {
        retryErrors: true,
      },
    );
    assert.equal((await parent.describe()).status, "RUNNING");
    await client.start(naps, { id: "patient", args: [3_600_000] });
    await client.start(naps, { id: "later", args: [1], startDelay: "1h" });
    await client.start(broken(false), { id: "broken" });
    await client.start(ships, { id: "ships", args: ["o-1"] });
    await client.execute(naps, { id: "done", args: [1] });
    for (const id of ["patient", "broken"]) {
      const handle = client.getHandle(undefined as string | undefined, id);
      await until(
        `${id} had a task`,
        async () => (await handle.describe()).historyLength >= 4,
      );
    }
    const shipping = client.getHandle(ships, "ships");
    await until(
      "the activity has failed a few times",
      async () => ((await shipping.describe()).pendingActivities[0]?.attempt ?? 0) > 3,
    );
    const soon = await client.start(naps, { id: "soon", args: [20_000] });
    await until(
      "its timer has started",
      async () => (await soon.describe()).historyLength >= 5,
    );
  });
  // Without a worker: its first task waits.
  await client.start(cart, { id: "new", args: ["new"] });
  return (await client.getHandle(ships, "ships").describe())
    .pendingActivities[0]!.attempt;
}

test("open runs of a server move into a store by one command, and end there", {
  skip: noServer,
}, async () => {
  const attempts = await leaveOpenRuns();
  const store = join(folder, "shop.sqlite");
  const from = [
    "--from-cluster",
    "",
    "--address",
    server.address,
    "--store",
    store,
  ];
  const command = (...args: string[]) => runCommand(["store", "import", ...args, ...from]);

  const refused = await command();
  assert.equal(refused.code, 1);
  assert.match(
    refused.err,
    /workflow "ada": run \S+ is open: import it with --open/,
  );
  const tried = await command("--open", "--dry-run");
  assert.equal(tried.code, 0, tried.err);
  assert.match(tried.out, /^10 runs would be imported \(9 open\)/);

  const moved = await command("--open", "--json");
  assert.equal(moved.code, 0, moved.err);
  const { imported, importedOpen } = JSON.parse(moved.out);
  assert.deepEqual([imported, importedOpen], [10, 9]);
  const ended = await command("--open", "--skip-existing", "--terminate-source", "--json");
  assert.equal(ended.code, 0, ended.err);
  assert.deepEqual(JSON.parse(ended.out), {
    store,
    imported: 0,
    importedOpen: 0,
    skippedExisting: 10,
    skippedOpen: 0,
    terminatedInCluster: 9,
  });
  assert.equal(await client.count('ExecutionStatus = "Running"'), 0);

  const reader = StoreReader.open(store);
  const checked = await checkStore(reader);
  reader.close();
  assert.deepEqual([checked.problems, checked.openRuns], [[], 9]);

  const app = await open({ path: store, taskQueue: "main", ...programs(true) });
  try {
    const { client: here } = app;
    const named = (id: string) => here.getHandle(undefined as string | undefined, id);
    assert.equal(await named("soon").result(), "rested");
    assert.equal(await named("broken").result(), "fixed");
    const [attempt, details] = await here.getHandle(ships, "ships").result();
    assert.ok(
      attempt >= attempts,
      `attempt ${attempt}, after ${attempts} at the server`,
    );
    assert.match(String(details), /^mile \d+$/);
    const ada = here.getHandle(cart, "ada");
    assert.equal(await ada.update(add, "cake"), 2);
    await ada.signal(checkout);
    assert.deepEqual(await ada.result(), {
      customer: "ada",
      items: ["tea", "cake"],
    });
    await here.getHandle(cart, "child-of-eve").signal(checkout);
    assert.deepEqual(await here.getHandle(family, "family").result(), {
      customer: "eve",
      items: ["milk"],
    });
    await named("new").signal(checkout);
    assert.deepEqual(await named("new").result(), {
      customer: "new",
      items: [],
    });
    assert.equal(await named("done").result(), "rested");
    // An hour is not over.
    for (const id of ["patient", "later"]) {
      assert.equal((await named(id).describe()).status, "RUNNING");
    }
    const again = await runCommand([
      "store",
      "import",
      "--open",
      "--skip-existing",
      ...from,
    ]);
    assert.match(again.err, /is open in another engine/);
  } finally {
    await app.close();
  }
  const again = await command("--open", "--skip-existing");
  assert.match(
    again.out,
    /^0 runs imported \(10 were there already\)/,
    again.err,
  );
});
