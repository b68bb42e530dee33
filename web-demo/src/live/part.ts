// The first view of the shop: a description and a button. The live part (engine, SQLite) is loaded
// on a click, or at once if this site already has a store.
import { h } from "./dom.ts";

export type Debug = (name: string, history: Uint8Array) => Promise<void>;

/**
 * Whether this site has a store. Checks the files, because a note in another storage can be lost in
 * a crash.
 */
async function isKept(): Promise<boolean> {
  try {
    await (await navigator.storage.getDirectory()).getDirectoryHandle("temporalex");
    return true;
  } catch {
    return false;
  }
}

export async function openShop(
  root: HTMLElement,
  openInDebugger: Debug,
): Promise<{ show(): void }> {
  const error = h("p", { className: "notice bad", role: "alert", id: "shop-error", hidden: true });
  const body = h("div", { id: "shop-body" });
  root.replaceChildren(
    h("h1", { id: "shop-title" }, "A cart that outlives its tab"),
    h(
      "p",
      { className: "lead" },
      "This shopping cart is a durable workflow: ordinary code, run by an engine in this tab and kept in the browser's private files. Reload the page, close it, kill the browser during the charge: the workflow continues from its last step.",
    ),
    error,
    h("p", { className: "hidden", role: "status", "aria-live": "polite", id: "shop-said" }),
    body,
  );
  const button = (text: string) =>
    h("button", {
      type: "button",
      className: "primary",
      id: "open-shop",
      onClick: () => void open(),
    }, text);
  const open = async () => {
    error.hidden = true;
    body.replaceChildren(h("p", { role: "status", className: "fine" }, "Opening the store …"));
    try {
      const { Shop } = await import("./shop.ts");
      await Shop.open(root, openInDebugger);
    } catch (e) {
      const { name, message } = e as Error;
      body.replaceChildren(button("Try again"));
      error.textContent = `The shop cannot be opened. ${name}: ${message}`;
      error.hidden = false;
    }
    root.dataset["ready"] = "";
  };
  // The shop opens at once if it was opened here before. Otherwise a click is needed, because it
  // stores files.
  if (await isKept()) void open();
  else {
    body.replaceChildren(
      h(
        "div",
        { className: "invite" },
        button("Open the shop"),
        h(
          "p",
          { className: "fine" },
          "Loads the engine and SQLite (once, less than 1 MiB), and stores one small file for this site in this browser.",
        ),
      ),
    );
    root.dataset["ready"] = "";
  }
  return { show: () => {} };
}
