// The page: two parts, one in sight, by the address behind the "#". Each part is loaded when it is first opened.
import { workerFile } from "./core_file.ts";
import { byId, h } from "./dom.ts";
import type { DebuggerPart } from "./debugger/part.ts";

interface Part {
  /** The part comes into sight. */
  show(): void;
}

const parts: { readonly [name: string]: () => Promise<Part> } = {
  shop: async () => (await import("./shop/part.ts")).openShop(byId("shop"), openInDebugger),
  debugger: async () => (await import("./debugger/part.ts")).openDebugger(byId("debugger")),
};
const opened = new Map<string, Promise<Part>>();

function part(name: string): Promise<Part> {
  let opening = opened.get(name);
  if (opening === undefined) {
    opened.set(name, opening = parts[name]!());
    opening.catch((e: Error) => {
      opened.delete(name);
      byId(name).replaceChildren(
        h(
          "p",
          { className: "notice bad", role: "alert" },
          `This part could not be loaded: ${e.message}. Reload the page to try again.`,
        ),
      );
    });
  }
  return opening;
}

async function route(): Promise<void> {
  const name = /^#\/(\w+)/.exec(location.hash)?.[1] ?? "shop";
  const wanted = name in parts ? name : "shop";
  for (const other of Object.keys(parts)) {
    byId(other).hidden = other !== wanted;
    const link = byId(`nav-${other}`);
    if (other === wanted) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${wanted === "shop" ? "Shop" : "Debugger"} · Temporalex in your tab`;
  (await part(wanted)).show();
}

/** Shows a history in the debugger. */
async function openInDebugger(name: string, history: Uint8Array): Promise<void> {
  const shown = part("debugger") as Promise<DebuggerPart>;
  location.hash = "#/debugger";
  await (await shown).open(name, history);
}

// A file may be dropped anywhere.
addEventListener("dragover", (event) => {
  if (!event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  document.body.classList.add("dropping");
});
addEventListener("dragleave", (event) => {
  if (event.relatedTarget === null) document.body.classList.remove("dropping");
});
addEventListener("drop", (event) => {
  document.body.classList.remove("dropping");
  const file = event.dataTransfer?.files[0];
  if (file === undefined) return;
  event.preventDefault();
  location.hash = "#/debugger";
  void (part("debugger") as Promise<DebuggerPart>).then((debug) => debug.openFile(file));
});
// It is fetched with the page, before any part asks for it.
void workerFile;
addEventListener("hashchange", () => void route().catch(() => {}));
void route().catch(() => {});
