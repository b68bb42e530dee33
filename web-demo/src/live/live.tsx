// The room Live: a cart and a world that run in this tab, each with a separate store. A part is
// opened when it is selected and then stays open, because its engine continues to run. The cart is
// plain DOM.
import type { FunctionComponent, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { openBytes } from "../open/open_history.ts";
import type { Debug } from "./part.ts";
import "./live.css";

const PARTS = [["cart", "Cart"], ["world", "World"]] as const;
type Part = typeof PARTS[number][0];

export function Live({ isShown }: { isShown: boolean }): JSX.Element {
  const cart = useRef<HTMLElement>(null);
  const isOpened = useRef(false);
  const [part, setPart] = useState<Part>("cart");
  const [WorldMap, setWorld] = useState<FunctionComponent<{ debug: Debug }>>();
  const [wrong, setWrong] = useState("");
  useEffect(() => {
    if (!isShown || part !== "cart" || isOpened.current) return;
    isOpened.current = true;
    const shop = cart.current!;
    void import("./part.ts").then(({ openShop }) => openShop(shop, debug)).catch((error: Error) => {
      isOpened.current = false;
      shop.textContent =
        `This room cannot be loaded: ${error.message}. Reload the page to try again.`;
    });
  }, [isShown, part]);
  const loadWorld = async () => {
    try {
      const { WorldMap } = await import("./world/world.tsx");
      setWorld(() => WorldMap);
    } catch (error) {
      setWrong(
        `This part cannot be loaded: ${(error as Error).message}. Reload the page to try again.`,
      );
    }
  };
  return (
    <div class="live" hidden={!isShown}>
      <nav class="rooms" aria-label="Programs in this tab">
        {PARTS.map(([name, label]) => (
          <button
            key={name}
            type="button"
            id={`live-${name}`}
            aria-pressed={part === name}
            class={part === name ? "primary" : ""}
            onClick={() => {
              setPart(name);
              if (name === "world") void loadWorld();
            }}
          >
            {label}
          </button>
        ))}
      </nav>
      <section
        id="shop"
        ref={cart}
        hidden={part !== "cart"}
        aria-label="A cart that outlives its tab"
      />
      <section id="world" hidden={part !== "world"} aria-label="A world that outlives its tab">
        {WorldMap === undefined
          ? <p class="fine" role="status">{wrong || "Loading …"}</p>
          : <WorldMap debug={debug} />}
      </section>
    </div>
  );
}

/** Opens a run in the debugger. */
const debug: Debug = async (name, history) => void await openBytes(name, history);
