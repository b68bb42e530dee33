// The shop's front: says what it is, and opens the live part (engine, SQLite) when it is asked to, or at once where it was opened before.
import { h } from "./dom.ts";

export type Debug = (name: string, history: Uint8Array) => Promise<void>;

/** Whether a store of this package is in this site's files. What is on disk counts: a note elsewhere may be lost in a crash. */
async function isKept(): Promise<boolean> {
  try {
    await (await navigator.storage.getDirectory()).getDirectoryHandle("temporalex");
    return true;
  } catch {
    return false;
  }
}

export async function openShop(root: HTMLElement, openInDebugger: Debug): Promise<{ show(): void }> {
  const error = h("p", { className: "notice bad", role: "alert", id: "shop-error", hidden: true });
  const body = h("div", { id: "shop-body" });
  root.replaceChildren(
    h("h1", { id: "shop-title" }, "A cart that outlives its tab"),
    h(
      "p",
      { className: "lead" },
      "This shopping cart is a durable workflow: ordinary code, run by an engine in this tab and kept in the browser's private files. Reload the page, close it, kill the browser in the middle of the charge: it goes on where it was.",
    ),
    error,
    h("p", { className: "hidden", role: "status", "aria-live": "polite", id: "shop-said" }),
    body,
  );
  const button = (text: string) =>
    h("button", { type: "button", className: "primary", id: "open-shop", onClick: () => void open() }, text);
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
  // Whoever has opened it here before goes on where they were; others are asked first, because it keeps files.
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
          "Loads the engine and SQLite (once, under a megabyte), and keeps one small file for this site in this browser.",
        ),
      ),
    );
    root.dataset["ready"] = "";
  }
  return { show: () => {} };
}
