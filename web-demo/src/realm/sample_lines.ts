// From a place in the bundled worker to a line of an example. The build writes down which piece of the bundle came from which line
// (tools/lines.mjs); the page reads that once, when the debugger opens.
import batch from "../../../examples/batch_process/workflow.ts?raw";
import counter from "../../../examples/counter/workflow.ts?raw";
import collector from "../../../examples/event_collector/workflow.ts?raw";
import inventory from "../../../examples/inventory/workflow.ts?raw";
import onboarding from "../../../examples/onboarding/workflow.ts?raw";
import order from "../../../examples/order_processing/workflow.ts?raw";
import cart from "../../../examples/shopping_cart/workflow.ts?raw";

const TEXTS: { readonly [file: string]: string } = {
  "examples/batch_process/workflow.ts": batch,
  "examples/counter/workflow.ts": counter,
  "examples/event_collector/workflow.ts": collector,
  "examples/inventory/workflow.ts": inventory,
  "examples/onboarding/workflow.ts": onboarding,
  "examples/order_processing/workflow.ts": order,
  "examples/shopping_cart/workflow.ts": cart,
};

/** File of the workflows by their type. */
export const FILES: { readonly [workflowType: string]: string } = {
  BatchProcess: "examples/batch_process/workflow.ts",
  Counter: "examples/counter/workflow.ts",
  EventCollector: "examples/event_collector/workflow.ts",
  Inventory: "examples/inventory/workflow.ts",
  Onboarding: "examples/onboarding/workflow.ts",
  OrderProcessing: "examples/order_processing/workflow.ts",
  ShoppingCart: "examples/shopping_cart/workflow.ts",
};

export interface Place {
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

/** Per bundled file: [line, column, index of the source or -1, line of the source] where a piece begins, in order. */
interface LineTable {
  readonly [bundle: string]: { readonly sources: readonly string[]; readonly pieces: readonly (readonly number[])[] };
}

let table: LineTable = {};

/** Reads the table; without it places are shown as they are. */
export async function loadLines(): Promise<void> {
  const response = await fetch(new URL("lines.json", document.baseURI));
  if (response.ok) table = await response.json() as LineTable;
}

/** The line of an example that a stack frame, "function (url:line:column)", stands for. */
export function placeOf(site: string): Place | undefined {
  const m = /([^/\s()]+\.js):(\d+):(\d+)\)?$/.exec(site);
  const known = m === null ? undefined : table[m[1]!];
  if (m === null || known === undefined) return undefined;
  const [line, column] = [Number(m[2]) - 1, Number(m[3]) - 1];
  const piece = known.pieces.findLast(([l, c]) => l! < line || (l === line && c! <= column));
  if (piece === undefined || piece[2]! < 0) return undefined;
  return { file: known.sources[piece[2]!]!, line: piece[3]! + 1 };
}

/** A frame for people: "shopping_cart/workflow.ts:62", or what it says itself. */
export function shownSite(site: string): string {
  const place = placeOf(site);
  return place === undefined
    ? site.replace(/\(?https?:\/\/[^/]+\//, "(")
    : `${place.file.replace("examples/", "")}:${place.line}`;
}

export const textOf = (file: string): string => TEXTS[file] ?? "";
