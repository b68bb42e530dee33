import { h } from "../dom.ts";
export function openShop(root: HTMLElement, _openInDebugger: (name: string, history: Uint8Array) => Promise<void>) {
  root.replaceChildren(h("h1", { id: "shop-title" }, "Shop"));
  return Promise.resolve({ show() {} });
}
