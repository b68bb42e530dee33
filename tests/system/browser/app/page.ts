// The test page: one tab with the workflow of the crash loop, controlled from outside through
// `tab`. It reports each request and each acknowledgment to the driver before it continues (`say`),
// so that the driver knows the true state after a kill at any moment.
import {
  type BrowserApp,
  type BrowserOpenOptions,
  deleteStore,
  open,
} from "../../../../ts/browser/mod.ts";
import { silentLogger } from "../../../../ts/base/logger.ts";
import { withContext } from "../../../../ts/activity/mod.ts";
import * as program from "../../../faults/crash/program.ts";
import { turningCodec } from "./codec.ts";

declare global {
  // Given by the driver.
  var say: (line: string) => Promise<void>;
  var tab: typeof api;
}

export interface OpenTab {
  store?: string;
  /** File names of another engine worker and another realm. */
  engine?: string;
  realm?: string;
  lead?: boolean;
  /** Milliseconds that each step takes. */
  stepMs?: number;
  /** Workflows run in the page itself. */
  inline?: boolean;
  /** Reverses every payload, so that the store contains no plain text. */
  coded?: boolean;
}

let app: BrowserApp | undefined;
/** The tab's channels for responses, with their listeners. */
const channels = new Map<BroadcastChannel, BroadcastChannel["onmessage"]>();
const OwnChannel = globalThis.BroadcastChannel;
globalThis.BroadcastChannel = class extends OwnChannel {
  constructor(name: string) {
    super(name);
    if (/:to:/.test(name)) {
      queueMicrotask(() => this.onmessage !== null && channels.set(this, this.onmessage));
    }
  }
};
let giveBack = () => {};
/** Moments (of performance.timeOrigin) at which this tab began to lead. */
const led: number[] = [];

const now = () => performance.timeOrigin + performance.now();
const opened = () => {
  if (app === undefined) throw new Error("the tab is not open");
  return app;
};
const described = (e: unknown) => {
  const { name, message, ...more } = e as Error;
  return { name, message, ...more };
};

async function ask(what: string, call: () => Promise<unknown>): Promise<string | undefined> {
  await say(`try ${what}`);
  try {
    await call();
  } catch (e) {
    await say(`refused ${what}: ${(e as Error).message}`);
    return (e as Error).message;
  }
  await say(`ack ${what}`);
  return undefined;
}

const api = {
  /** Undefined, or what was wrong. */
  async open(
    {
      store = "test",
      engine = "engine.js",
      realm = "realm.js",
      lead = true,
      stepMs = 0,
      coded = false,
      inline = false,
    }: OpenTab = {},
  ) {
    const options: BrowserOpenOptions = {
      path: store,
      lead,
      ...(coded && { codec: turningCodec }),
      logger: silentLogger,
      ...(inline
        ? { workflows: program }
        : { realm: () => new Worker(`/${realm}`, { type: "module" }) }),
      engineWorker: () => new Worker(`/${engine}`, { type: "module" }),
      activities: {
        step: withContext(async (context, n: number) => {
          await say(`exec ${context.info.idempotencyKey} ${context.info.workflowId} ${n}`);
          if (stepMs > 0) await new Promise((resolve) => setTimeout(resolve, stepMs));
          return n;
        }),
      },
    };
    try {
      app = await open(options);
    } catch (e) {
      return described(e);
    }
    const note = () => {
      if (app!.role === "leader") led.push(now());
    };
    note();
    app.onStatus(note);
    return undefined;
  },
  close: () => opened().close(),
  status: () => {
    const { role, leader, problem } = opened().status;
    return { role, leader, problem: problem === undefined ? undefined : described(problem) };
  },
  led: () => led,
  now,
  persisted: () => opened().persisted,
  storage: () => opened().storage(),
  deleteStore: (store: string) => deleteStore(store).then(() => undefined, described),
  purge: (closedBefore: number, limit?: number) =>
    opened().purge({ closedBefore, ...(limit !== undefined && { limit }) }),
  checkStore: () => opened().checkStore(),
  start: (id: string, plan: program.Plan) =>
    ask(`start ${id}`, () => opened().client.start(program.crash, { id, args: [plan] })),
  signal: (id: string, name: string) =>
    ask(
      `signal ${id} ${name}`,
      () => opened().client.getHandle(program.crash, id).signal(program.post, name),
    ),
  async update(id: string, name: string) {
    for (let n = 0;; n++) {
      const updateId = n === 0 ? name : `${name}-${n}`;
      const refusal = await ask(`update ${id} ${updateId}`, async () => {
        const handle = opened().client.getHandle(program.crash, id);
        const update = await handle.startUpdate(program.deliver, {
          args: [updateId],
          updateId,
          waitFor: "completed",
        });
        return await update.result();
      });
      if (!/accepts no updates|Workflow Task in failed state/.test(refusal ?? "")) return refusal;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  },
  /**
   * Starts runs and sends them their mail, several at once, until the page is gone. Not awaited by
   * the driver.
   */
  work(prefix: string, clients: number): void {
    const client = async (name: string) => {
      for (let n = 0;; n++) {
        const id = `${name}n${n}`;
        await api.start(id, { steps: 2, signals: 2, updates: 1 });
        await api.send(id, id);
        if (n % 2 === 0) await api.result(id);
      }
    };
    for (let c = 0; c < clients; c++) {
      void client(`${prefix}c${c}`).catch((e) => say(`ended ${prefix}c${c}: ${e}`));
    }
  },
  async send(id: string, name: string): Promise<void> {
    await api.signal(id, `${name}-a`);
    await api.update(id, `${name}-u`);
    await api.signal(id, `${name}-b`);
  },
  /**
   * Sends open runs the messages that they wait for, and waits for their results; returns the
   * number of runs.
   */
  async takeUp(round: string): Promise<number> {
    const ids = await api.running();
    await Promise.all(ids.map(async (id) => {
      await api.send(id, `${id}-${round}`);
      await api.result(id);
    }));
    return ids.length;
  },
  /**
   * Runs a workflow of another program of the site (`open({ realm })`) by its name; its result, or
   * what it failed with.
   */
  execute: (type: string, id: string, args: unknown[]) =>
    opened().client.execute(type, { id, args }).catch(described),
  /** A schedule whose first action is taken now. */
  async schedule(scheduleId: string, workflowType: string, workflowId: string, args: unknown[]) {
    const action = { type: "startWorkflow", workflowType, workflowId, args } as const;
    const state = { triggerImmediately: true };
    await opened().client.schedule.create({
      ...{ scheduleId, action, state },
      spec: { intervals: [{ every: "30d" }] },
    });
  },
  /** Result of the run that continues after the first task of the latest one. */
  async resetResult(id: string) {
    const reset = { type: "FIRST_WORKFLOW_TASK", reason: "again" } as const;
    return await (await opened().client.getHandle(undefined, id).reset(reset)).result();
  },
  /** What tasks of a run have failed with. */
  failures: async (id: string) => {
    const { events } = await opened().client.getHandle(undefined, id).fetchHistory();
    return events.flatMap(({ attributes }) =>
      attributes.case === "workflowTaskFailedEventAttributes"
        ? [attributes.value.failure?.message ?? ""]
        : []
    );
  },
  signalBare: (id: string, name: string) => opened().client.getHandle(undefined, id).signal(name),
  /** Rows of the application's tables, or what was wrong. */
  rows: (sql: string, ...params: (string | number)[]) =>
    opened().tables.all(sql, ...params).catch(described),
  startByHand: (type: string, id: string, args: unknown[]) =>
    opened().client.start(type, { id, args, timers: "manual" }).then(() => undefined),
  /** The result of a function of the application, or what was wrong. */
  call: (name: string, ...args: unknown[]) => opened().client.call(name, ...args).catch(described),
  /** What was wrong, or nothing. */
  fireTimer: (id: string, name: string) =>
    opened().fireTimer(id, name).then(() => undefined, described),
  startFor: (
    type: string,
    id: string,
    args: unknown[],
    belonging: { entityId?: string; correlationId?: string },
  ) => opened().client.start(type, { id, args, ...belonging }).then(() => undefined),
  result: (id: string) => opened().client.getHandle(program.crash, id).result(),
  async running() {
    const ids: string[] = [];
    for await (const { workflowId } of opened().client.list("ExecutionStatus = 'Running'")) {
      ids.push(workflowId);
    }
    return ids;
  },
  count: async (query = "") => Number(await opened().client.count(query)),
  /** How many it has reached, or what was wrong. */
  broadcast: (signal: string, filter: string | undefined, ...args: unknown[]) =>
    opened().client.broadcast(signal, filter, ...args).catch(described),
  /** Kinds of the events of a history: "workflowExecutionSignaled", ... */
  events: async (id: string) => {
    const { events } = await opened().client.getHandle(program.crash, id).fetchHistory();
    return events.map(({ attributes }) => (attributes.case ?? "").replace(/EventAttributes$/, ""));
  },
  /** Sends something to a worker of the site and returns its response. */
  askWorker: (file: string, message: unknown) =>
    new Promise<unknown>((resolve, reject) => {
      const worker = new Worker(`/${file}`, { type: "module" });
      worker.onmessage = ({ data }) => {
        worker.terminate();
        resolve(data);
      };
      worker.onerror = (e) => reject(new Error(e.message));
      worker.postMessage(message);
    }),
  /** Says on the tabs' channel what a tab of a later version says. */
  pretend(store: string, versions: { protocol: number; schema: number; version: string }) {
    const channel = new BroadcastChannel(`temporalex:${store}:all`);
    channel.postMessage({ temporalex: 1, kind: "hello", from: "later", ...versions });
    channel.close();
  },
  /** Writes anything to the channels that a leader and a tab listen to. */
  babble(store: string, messages: unknown[]) {
    for (const address of ["all", `to:${opened().status.leader}`]) {
      const channel = new BroadcastChannel(`temporalex:${store}:${address}`);
      for (const message of messages) channel.postMessage(message);
      channel.close();
    }
  },
  /** Blocks or unblocks responses of the leading tab to this page. */
  deafen(deaf: boolean) {
    for (const [channel, listener] of channels) channel.onmessage = deaf ? null : listener;
  },
  /** For the engine's worker "refusing.js?crashing". */
  crashEngine() {
    const channel = new BroadcastChannel("crash");
    channel.postMessage("now");
    channel.close();
  },
  /** Steals the store's lock from its owner, and keeps it until `giveBack`. */
  steal: (store: string) =>
    new Promise<void>((taken, refused) => {
      const keep = () => {
        taken();
        return new Promise<void>((resolve) => (giveBack = resolve));
      };
      navigator.locks.request(`temporalex:${store}`, { steal: true }, keep).catch(refused);
    }),
  giveBack: () => giveBack(),
  /**
   * Blocks the page until another one calls `endHangs`: a page with a blocked event loop sees only
   * the cookies of other pages change.
   */
  hang() {
    document.cookie = "hang=on";
    setTimeout(() => {
      const end = performance.now() + 60_000;
      for (let look = 0; performance.now() < end;) {
        if (performance.now() < look) continue;
        if (!document.cookie.includes("hang=on")) return;
        look = performance.now() + 100;
      }
    }, 50);
  },
  endHangs() {
    document.cookie = "hang=off";
  },
  /** Is that text in the store's file? */
  async found(text: string) {
    return (await (await opened().exportStore()).text()).includes(text);
  },
  /** The store's bytes as base64, which crosses to the driver. */
  async exportStore() {
    const bytes = new Uint8Array(await (await opened().exportStore()).arrayBuffer());
    let text = "";
    for (let at = 0; at < bytes.length; at += 0x8000) {
      text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
    }
    return btoa(text);
  },
  async importStore(base64: string, force = false) {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    try {
      await opened().importStore(bytes, { force });
      return undefined;
    } catch (e) {
      return described(e);
    }
  },
};
globalThis.tab = api;
