// The test page: a tab that is client and worker of whatever is behind the gateway, driven from
// outside through `far`.
import { Client, silentLogger } from "../../../../ts/client/mod.ts";
import { connectGateway, type GatewayConnection } from "../../../../ts/gateway/mod.ts";
import { Worker } from "../../../../ts/worker/mod.ts";
import { add, basket, type Bill, done, mark, shopping, walk } from "./workflows.ts";

declare global {
  var far: typeof api;
}

let service: GatewayConnection;
let client: Client;
let worker: Worker;
let running: Promise<void>;
const asked: string[] = [];
/** Prices that are asked for beyond this number wait. */
let most = Infinity;
let release: (() => void) | undefined;
let released: Promise<void> = Promise.resolve();

const api = {
  /** Undefined, or what was wrong. */
  async connect(
    url: string,
    taskQueue: string,
    patience: "2s" | "10s" = "10s",
  ): Promise<{ readonly code: unknown; readonly message: string } | undefined> {
    try {
      service = await connectGateway(url, { patience });
    } catch (error) {
      const { code, message } = error as { code?: unknown; message: string };
      return { code, message };
    }
    client = new Client({ service, taskQueue, logger: silentLogger });
    return undefined;
  },
  async work(taskQueue: string): Promise<void> {
    worker = await Worker.create({
      service,
      taskQueue,
      logger: silentLogger,
      realmEntry: () => new globalThis.Worker("/realm.js", { type: "module" }),
      activities: {
        // What only a page has.
        async price(article: string): Promise<number> {
          if (asked.push(article) > most) await released;
          document.body.append(`${article};`);
          return article.length;
        },
      },
    });
    running = worker.run();
  },
  async stop(): Promise<void> {
    await worker.shutdown();
    await running;
    await service.close();
  },
  async shop(id: string): Promise<{ counts: number[]; seen: unknown; bill: Bill; text: string }> {
    const handle = await client.start(shopping, { id });
    const counts = [await handle.update(add, "tea"), await handle.update(add, "bread")];
    await handle.signal(mark, "no bag");
    const seen = await handle.query(basket);
    await handle.signal(done);
    return { counts, seen, bill: await handle.result(), text: document.body.textContent! };
  },
  /** Starts `count` runs; their results. */
  async walks(prefix: string, count: number, steps: number): Promise<number[]> {
    const ids = Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
    const handles = await Promise.all(
      ids.map((id) => client.start(walk, { id, args: [id, steps] })),
    );
    return await Promise.all(handles.map((handle) => handle.result()));
  },
  /** Results of runs that another page has started. */
  results(prefix: string, count: number): Promise<number[]> {
    return Promise.all(
      Array.from({ length: count }, (_, i) => client.getHandle(walk, `${prefix}-${i}`).result()),
    );
  },
  asked: () => asked.length,
  /** Only so many prices are returned until `goOn`: the runs wait meanwhile. */
  holdAfter(count: number): void {
    most = count;
    released = new Promise((resolve) => (release = resolve));
  },
  goOn(): void {
    most = Infinity;
    release?.();
  },
  status: () => service.status,
};
globalThis.far = api;
