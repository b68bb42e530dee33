// The histories that are part of the page, as exported by the `temporal` command line. Their texts
// are part of the debugger's script, so no request is needed.
import batch from "../../samples/batch_process.json?raw";
import counter from "../../samples/counter.json?raw";
import collector from "../../samples/event_collector.json?raw";
import inventory from "../../samples/inventory.json?raw";
import onboarding from "../../samples/onboarding.json?raw";
import order from "../../samples/order_processing.json?raw";
import cart from "../../samples/shopping_cart.json?raw";
import diverged from "../../samples/shopping_cart_diverged.json?raw";
import open from "../../samples/shopping_cart_open.json?raw";

export interface Sample {
  readonly id: string;
  readonly name: string;
  readonly about: string;
  readonly text: string;
}

export const samples: readonly Sample[] = [
  {
    id: "shopping_cart",
    name: "Shopping cart",
    about: "updates, a charge that is retried, a confirmation",
    text: cart,
  },
  {
    id: "shopping_cart_open",
    name: "Shopping cart, running",
    about: "what an open run waits for",
    text: open,
  },
  {
    id: "shopping_cart_diverged",
    name: "Shopping cart, changed code",
    about: "the code diverges from the history",
    text: diverged,
  },
  {
    id: "inventory",
    name: "Inventory",
    about: "update handlers that work in the background",
    text: inventory,
  },
  { id: "batch_process", name: "Batch", about: "activities in parallel", text: batch },
  {
    id: "event_collector",
    name: "Event collector",
    about: "a loop with a timeout that continues as new",
    text: collector,
  },
  { id: "order_processing", name: "Order", about: "side effects", text: order },
  { id: "onboarding", name: "Onboarding", about: "three steps", text: onboarding },
  { id: "counter", name: "Counter", about: "signals", text: counter },
];
