// A workflow that lives in this tab: the shop, whose parts are plain DOM. It is opened when its room is, and stays where it is while another
// room is in sight, because its engine goes on.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { openBytes } from "../app/doors.ts";
import "./live.css";

export function Live({ isShown }: { isShown: boolean }): JSX.Element {
  const root = useRef<HTMLElement>(null);
  const isOpened = useRef(false);
  useEffect(() => {
    if (!isShown || isOpened.current) return;
    isOpened.current = true;
    const shop = root.current!;
    void import("./part.ts").then(({ openShop }) => openShop(shop, debug)).catch((error: Error) => {
      isOpened.current = false;
      shop.textContent = `This room could not be loaded: ${error.message}. Reload the page to try again.`;
    });
  }, [isShown]);
  return <section id="shop" class="live" ref={root} hidden={!isShown} aria-label="A cart that outlives its tab" />;
}

/** Opens a run of the shop in the debugger. */
const debug = async (name: string, history: Uint8Array): Promise<void> => void await openBytes(name, history);
