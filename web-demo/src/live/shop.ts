// The shop: a cart that is a durable workflow, run by this tab or by the leading tab, and stored in
// the browser's private files.
import { workerFile } from "../core_file.ts";
import { type BrowserApp, open, StoreNotEmptyError, type TabStatus } from "temporalex/browser";
import engineUrl from "temporalex/engine.wasm?url";
import { useCore } from "temporalex/slim";
import sqliteUrl from "@sqlite.org/sqlite-wasm/sqlite3.wasm?url";
import type { Item } from "../../../examples/shopping_cart/workflow.ts";
import { byId, h, json } from "./dom.ts";
import * as activities from "./activities.ts";
import { Cart } from "./cart.ts";
import type { Debug } from "./part.ts";

const GOODS: readonly (Item & { readonly name: string })[] = [
  { sku: "LAMP-3", name: "Desk lamp", priceCents: 4200 },
  { sku: "BOOK-1", name: "Notebook", priceCents: 1900 },
  { sku: "PEN-2", name: "Fountain pen", priceCents: 2750 },
  { sku: "MUG-7", name: "Mug", priceCents: 1200 },
  { sku: "BULB-1", name: "Light bulb", priceCents: 350 },
  { sku: "no sku", name: "Item that is rejected", priceCents: 100 },
];

const PHASES = [["open", "Collecting"], ["charging", "Charging"], ["confirming", "Confirming"], [
  "done",
  "Bought",
]] as const;
const money = (cents: number) =>
  (cents / 100).toLocaleString("en", { style: "currency", currency: "EUR" });
const size = (bytes: number | undefined) =>
  bytes === undefined ? "unknown" : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

/** Shows the last error of an action on this page, of the engine or of the worker. */
function tell(error: Error): void {
  const place = byId("shop-error");
  place.textContent = `${error.name}: ${error.message}`;
  place.hidden = false;
}

export class Shop {
  readonly #root: HTMLElement;
  readonly #debug: Debug;
  readonly #error = byId("shop-error");
  readonly #said = byId("shop-said");
  readonly #app: BrowserApp;
  readonly #cart: Cart;
  #busy = "";
  #result = "";
  #storage = { usage: undefined as number | undefined, persisted: false };

  /**
   * Opens the store in this tab, or connects to the tab that has it open. Rejects with the reason
   * if neither is possible.
   */
  static async open(root: HTMLElement, debug: Debug): Promise<void> {
    useCore({ worker: workerFile, engine: new URL(engineUrl, import.meta.url) });
    const app = await open({
      name: "temporalex-demo",
      activities,
      sqliteWasm: new URL(sqliteUrl, import.meta.url),
      realm: () =>
        new Worker(new URL("../realm.ts", import.meta.url), { type: "module", name: "workflows" }),
      logger: {
        debug() {},
        info() {},
        warn() {},
        error: (message, fields) =>
          tell(fields?.["error"] instanceof Error ? fields["error"] : new Error(message)),
      },
    });
    new Shop(root, debug, app);
  }

  private constructor(root: HTMLElement, debug: Debug, app: BrowserApp) {
    this.#root = root;
    this.#debug = debug;
    this.#app = app;
    this.#cart = new Cart(app, () => this.#draw());
    byId("shop-body").replaceChildren(...this.#frame());
    app.done.catch((e: Error) => tell(e));
    app.onStatus(() => this.#draw());
    void app.persisted.then(() => this.#measure());
    this.#draw();
    root.dataset["open"] = "";
    void this.#measure();
  }

  async #measure(): Promise<void> {
    this.#storage = await this.#app.storage();
    this.#draw();
  }

  #frame(): HTMLElement[] {
    const file = h("input", {
      type: "file",
      id: "import-file",
      className: "hidden",
      tabindex: -1,
      "aria-hidden": "true",
    });
    file.addEventListener("change", () => {
      const [chosen] = file.files ?? [];
      file.value = "";
      if (chosen !== undefined) void this.#import(chosen, false);
    });
    return [
      h("div", { className: "strip", id: "strip" }),
      h(
        "div",
        { className: "shop" },
        h(
          "section",
          { className: "panel", "aria-labelledby": "goods-title" },
          h("h2", { id: "goods-title" }, "Goods"),
          h(
            "ul",
            { className: "goods" },
            ...GOODS.map(({ sku, name, priceCents }) =>
              h(
                "li",
                {},
                h("span", { className: "what" }, name, " ", h("span", { className: "fine" }, sku)),
                h("span", { className: "price" }, money(priceCents)),
                h("button", {
                  ...{ type: "button", "data-add": sku, "aria-label": `Add ${name} to the cart` },
                  onClick: () =>
                    this.#do(`Added ${name}.`, (cart) => cart.add({ sku, priceCents })),
                }, "Add"),
              )
            ),
          ),
        ),
        h("section", { className: "panel", id: "cart", "aria-labelledby": "cart-title" }),
        h("section", { className: "panel", id: "run", "aria-labelledby": "run-title" }),
      ),
      h(
        "section",
        { className: "panel try", "aria-labelledby": "try-title" },
        h("h2", { id: "try-title" }, "Try to lose it"),
        h(
          "p",
          { className: "buttons" },
          h(
            "button",
            { type: "button", id: "reload", onClick: () => location.reload() },
            "Reload this tab",
          ),
          h("a", {
            href: "#/live",
            target: "_blank",
            rel: "opener",
            className: "button",
            id: "second",
          }, "Open a second tab"),
          h(
            "button",
            { type: "button", id: "export", onClick: () => void this.#export() },
            "Export the store",
          ),
          file,
          h(
            "button",
            { type: "button", id: "import", onClick: () => file.click() },
            "Import a store…",
          ),
        ),
        h(
          "p",
          { className: "fine" },
          "The exported file is an SQLite database; the temporalex command line in Node and Deno opens it too.",
        ),
        h("div", { id: "import-question" }),
      ),
    ];
  }

  /** Runs one action at a time and shows its error. */
  #do(done: string, work: (cart: Cart) => Promise<void>): void {
    if (this.#busy !== "") return;
    this.#busy = done;
    this.#error.hidden = true;
    this.#draw();
    work(this.#cart).then(
      () => (this.#said.textContent = done),
      (e: Error) => tell((e.cause as Error | undefined) ?? e),
    )
      .finally(() => {
        this.#busy = "";
        this.#draw();
        void this.#measure();
      });
  }

  #draw(): void {
    const { status } = this.#app;
    this.#drawStrip(status);
    this.#drawCart();
    this.#drawRun();
    this.#root.dataset["role"] = status.role;
    const { problem } = status;
    if (problem !== undefined) tell(problem);
  }

  #drawStrip({ role }: TabStatus): void {
    const words = {
      leader: ["good", "this tab leads", "The engine, its store and the workflow code run here."],
      follower: [
        "plain",
        "another tab leads",
        "This tab sends it requests, and becomes the leader when it closes.",
      ],
      none: ["bad", "no tab leads", "Waiting for a new leader."],
    } as const;
    const [kind, name, about] = words[role];
    const { usage, persisted } = this.#storage;
    keep(
      byId("strip"),
      h("span", { className: `badge ${kind}`, id: "role" }, name),
      h("span", { className: "fine" }, about),
      h(
        "span",
        { className: "fine", id: "storage" },
        `Storage: ${size(usage)}, ${persisted ? "kept for good" : "kept while space lasts"}`,
      ),
    );
  }

  #drawCart(): void {
    const { items, published, outcome, runId } = this.#cart.state;
    const phase = published?.phase;
    const open = outcome === undefined;
    const at = phase === "refunded" ? 3 : PHASES.findIndex(([name]) => name === phase);
    const total = items.reduce((sum, { priceCents }) => sum + priceCents, 0);
    const busy = this.#busy !== "";
    const button = (
      id: string,
      text: string,
      done: string,
      work: (cart: Cart) => Promise<void>,
      main = false,
    ) =>
      h("button", {
        type: "button",
        id,
        disabled: busy,
        className: main ? "primary" : undefined,
        onClick: () => this.#do(done, work),
      }, text);
    const collecting = open && (phase === "open" || phase === undefined);
    const result = outcome === undefined
      ? undefined
      : "failed" in outcome
      ? `The workflow failed: ${outcome.failed}`
      : outcome.paid
      ? `Bought for ${money(outcome.totalCents)}. The receipt is sent.`
      : "Canceled. The charge is refunded.";
    for (const add of document.querySelectorAll<HTMLButtonElement>("[data-add]")) {
      add.disabled = busy || (runId !== undefined && open && !collecting);
    }
    if (result !== undefined && this.#result !== result) this.#said.textContent = result;
    this.#result = result ?? "";
    keep(
      byId("cart"),
      h("h2", { id: "cart-title" }, "Your cart"),
      h(
        "ol",
        { className: "phases", "aria-label": "Progress" },
        ...PHASES.map(([name, label], i) =>
          h(
            "li",
            {
              className: i < at ? "past" : i === at ? "now" : undefined,
              "aria-current": i === at ? "step" : undefined,
            },
            name === "done" && (phase === "refunded") ? "Refunded" : label,
          )
        ),
      ),
      items.length === 0
        ? h(
          "p",
          { className: "none" },
          runId === undefined || !collecting
            ? "Add an item to start the workflow."
            : "The cart is empty.",
        )
        : h(
          "ul",
          { className: "goods", id: "items" },
          ...items.map(({ sku, priceCents }) =>
            h(
              "li",
              {},
              h("span", { className: "what" }, GOODS.find((good) => good.sku === sku)?.name ?? sku),
              h("span", { className: "price" }, money(priceCents)),
              collecting && h("button", {
                ...{
                  type: "button",
                  "data-remove": sku,
                  disabled: busy,
                  "aria-label": `Remove ${sku} from the cart`,
                },
                onClick: () => this.#do(`Removed ${sku}.`, (cart) => cart.remove(sku)),
              }, "Remove"),
            )
          ),
          h(
            "li",
            { className: "total" },
            h("span", { className: "what" }, "Total"),
            h("span", { className: "price" }, money(total)),
          ),
        ),
      h(
        "p",
        { className: "buttons" },
        collecting && items.length > 0 &&
          button("checkout", "Check out", "Charging.", (cart) => cart.checkout(), true),
        open && phase === "charging" &&
          h(
            "span",
            { className: "fine", id: "charging" },
            "Charging … Close the tab now to see it recover.",
          ),
        open && phase === "confirming" &&
          button("confirm", "Yes, buy it", "Bought.", (cart) => cart.decide(true), true),
        open && phase === "confirming" &&
          button("cancel", "No, refund", "Canceled.", (cart) => cart.decide(false)),
        result !== undefined && h("span", { id: "result" }, result),
        result !== undefined &&
          button("again", "A new cart", "A new cart.", (cart) => cart.start()),
      ),
    );
  }

  #drawRun(): void {
    const { published, events, runId } = this.#cart.state;
    keep(
      byId("run"),
      h("h2", { id: "run-title" }, "The run"),
      h("h3", {}, "Published state"),
      published === undefined ? h("p", { className: "none" }, "Nothing yet.") : json(published),
      h(
        "p",
        { className: "fine", id: "events-written" },
        runId === undefined ? "No run yet." : `${events} events in its history`,
      ),
      h(
        "p",
        { className: "buttons" },
        h(
          "button",
          {
            type: "button",
            id: "debug",
            disabled: runId === undefined,
            onClick: () => void this.#inDebugger(),
          },
          "Open this run in the debugger",
        ),
      ),
    );
  }

  async #inDebugger(): Promise<void> {
    try {
      await this.#debug(
        `the cart of this tab, run ${this.#cart.state.runId}`,
        await this.#cart.history(),
      );
    } catch (e) {
      tell(e as Error);
    }
  }

  async #export(): Promise<void> {
    try {
      const url = URL.createObjectURL(await this.#app.exportStore());
      const link = h("a", { href: url, download: "temporalex-demo.sqlite" });
      document.body.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(url), 60_000);
      this.#said.textContent = "The store was exported.";
    } catch (e) {
      tell(e as Error);
    }
  }

  async #import(file: File, force: boolean): Promise<void> {
    const question = byId("import-question");
    question.replaceChildren();
    this.#error.hidden = true;
    try {
      await this.#app.importStore(file, { force });
      this.#said.textContent = "The store was imported.";
      question.append(
        h("p", { className: "notice", id: "imported" }, `The store was replaced by ${file.name}.`),
      );
      await this.#measure();
    } catch (e) {
      if (!(e instanceof StoreNotEmptyError)) return tell(e as Error);
      const yes = h(
        "button",
        { type: "button", id: "replace", onClick: () => void this.#import(file, true) },
        "Replace the store",
      );
      const no = h(
        "button",
        { type: "button", onClick: () => question.replaceChildren() },
        "Keep the store",
      );
      question.append(
        h(
          "p",
          { className: "notice", role: "alert" },
          `This site already has a store. Replace its content by ${file.name}? `,
          yes,
          " ",
          no,
        ),
      );
    }
  }
}

/**
 * Replaces the children of an element if they differ, and keeps the focus on the element with the
 * same id.
 */
function keep(parent: HTMLElement, ...children: HTMLElement[]): void {
  const next = document.createElement("div");
  next.append(...children);
  if (next.innerHTML === parent.innerHTML) return;
  const { activeElement } = document;
  const id = activeElement !== null && parent.contains(activeElement) ? activeElement.id : "";
  const had = activeElement !== null && parent.contains(activeElement);
  parent.replaceChildren(...next.childNodes);
  if (!had) return;
  const again = id === "" ? null : document.getElementById(id);
  if (again !== null && !(again as HTMLButtonElement).disabled) return again.focus();
  parent.tabIndex = -1;
  parent.focus({ preventScroll: true });
}
