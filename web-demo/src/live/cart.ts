// The current cart, computed from its run: each tab follows the history event by event, and queries
// the published state after each of them. So every tab shows the actions of all tabs.
import type { BrowserApp } from "temporalex/browser";
import { WorkflowNotFoundError } from "temporalex/browser";
import {
  addItem,
  cancel,
  checkout,
  confirm,
  type Item,
  type Outcome,
  removeItem,
  shoppingCart,
  type Status,
  status,
} from "../../../examples/shopping_cart/workflow.ts";

export const CART_ID = "cart";

type Event = Parameters<typeof take>[1];
type Handle = ReturnType<typeof handleOf>;

export interface CartState {
  /** Undefined if there has never been a cart. */
  readonly runId: string | undefined;
  readonly items: readonly Item[];
  /** The last published state. */
  readonly published: Status | undefined;
  readonly events: number;
  /** The end of the run; undefined while it is open. */
  readonly outcome: Outcome | { readonly failed: string } | undefined;
}

const EMPTY: CartState = {
  runId: undefined,
  items: [],
  published: undefined,
  events: 0,
  outcome: undefined,
};

const handleOf = (app: BrowserApp, runId?: string) =>
  app.client.getHandle(shoppingCart, CART_ID, runId);
const text = new TextDecoder();
const decoded = (payload: { readonly data: Uint8Array } | undefined): unknown =>
  payload === undefined || payload.data.length === 0
    ? undefined
    : JSON.parse(text.decode(payload.data));

/** Items of completed updates. */
interface Fold {
  readonly accepted: Map<bigint, { readonly name: string; readonly arg: unknown }>;
  items: Item[];
  outcome: CartState["outcome"];
}

function take(
  fold: Fold,
  event: Awaited<ReturnType<Handle["fetchHistory"]>>["events"][number],
): void {
  const { attributes, eventId } = event;
  switch (attributes.case) {
    case "workflowExecutionUpdateAcceptedEventAttributes": {
      const input = attributes.value.acceptedRequest?.input;
      fold.accepted.set(eventId, {
        name: input?.name ?? "",
        arg: decoded(input?.args?.payloads[0]),
      });
      return;
    }
    case "workflowExecutionUpdateCompletedEventAttributes": {
      const { acceptedEventId, outcome } = attributes.value;
      const update = fold.accepted.get(acceptedEventId);
      if (outcome?.value.case !== "success" || update === undefined) return;
      if (update.name === addItem.name) fold.items = [...fold.items, update.arg as Item];
      if (update.name === removeItem.name) {
        fold.items = fold.items.filter(({ sku }) => sku !== update.arg);
      }
      return;
    }
    case "workflowExecutionCompletedEventAttributes":
      fold.outcome = decoded(attributes.value.result?.payloads[0]) as Outcome;
      return;
    case "workflowExecutionFailedEventAttributes":
      fold.outcome = { failed: attributes.value.failure?.message ?? "the workflow failed" };
      return;
    case "workflowExecutionTerminatedEventAttributes":
      fold.outcome = { failed: attributes.value.reason || "the workflow was terminated" };
      return;
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export class Cart {
  state: CartState = EMPTY;
  readonly #app: BrowserApp;
  readonly #changed: () => void;
  #closed = false;

  constructor(app: BrowserApp, changed: () => void) {
    this.#app = app;
    this.#changed = changed;
    void this.#watch();
  }

  close(): void {
    this.#closed = true;
  }

  /**
   * Adds an item to the open cart, or to a new one. Rejects with the error of the workflow's
   * validator.
   */
  async add(item: Item): Promise<void> {
    await (await this.#open()).update(addItem, item);
  }

  async remove(sku: string): Promise<void> {
    await handleOf(this.#app).update(removeItem, sku);
  }

  async checkout(): Promise<void> {
    await handleOf(this.#app).signal(checkout);
  }

  async decide(buy: boolean): Promise<void> {
    await handleOf(this.#app).update(buy ? confirm : cancel);
  }

  /** Starts a cart unless one is open. */
  async #open(): Promise<Handle> {
    return await this.#app.client.start(shoppingCart, {
      id: CART_ID,
      args: [{ customer: "ada" }],
      idConflictPolicy: "USE_EXISTING",
    });
  }

  async start(): Promise<void> {
    await this.#open();
  }

  /** The history of the current run. */
  async history(): Promise<Uint8Array> {
    return await handleOf(this.#app, this.state.runId).historyBytes();
  }

  /** Follows run after run, until the page is closed. */
  async #watch(): Promise<void> {
    while (!this.#closed) {
      try {
        const { runId } = await handleOf(this.#app).describe();
        if (runId !== this.state.runId) await this.#follow(runId);
        else await pause(300);
      } catch (e) {
        if (this.#closed) return;
        // No cart yet, or no leader for a moment. Longer problems are in the tab's status.
        if (e instanceof WorkflowNotFoundError && this.state !== EMPTY) this.#set(EMPTY);
        await pause(300);
      }
    }
  }

  async #follow(runId: string): Promise<void> {
    const handle = handleOf(this.#app, runId);
    const fold: Fold = { accepted: new Map(), items: [], outcome: undefined };
    let [events, asked, shown] = [0, 0, 0];
    const show = (published: Status | undefined) => {
      const { items, outcome } = fold;
      this.#set({ runId, items, published, events, outcome });
    };
    /** The last known published state of this run. */
    const known = () => this.state.runId === runId ? this.state.published : undefined;
    /** Queries the published state after the last events; one query at a time. */
    const ask = async () => {
      for (asked++; shown < asked && !this.#closed;) {
        const now = asked;
        const published = await handle.query(status).catch(() => known()) as Status | undefined;
        if (now > shown) show(published);
        shown = Math.max(shown, now);
      }
    };
    for await (const event of handle.history({ follow: true })) {
      if (this.#closed) return;
      take(fold, event as Event);
      events++;
      if (asked === shown) void ask();
      else asked++;
      if (this.state.runId === runId) show(this.state.published);
    }
    await ask();
  }

  #set(state: CartState): void {
    this.state = state;
    this.#changed();
  }
}
