// The code of the samples: the examples. It runs in the sandbox like all code, but without a click,
// because it is part of the page.
import batch from "../../../examples/batch_process/workflow.ts?raw";
import counter from "../../../examples/counter/workflow.ts?raw";
import entity from "../../../examples/entity/workflow.ts?raw";
import collector from "../../../examples/event_collector/workflow.ts?raw";
import inventory from "../../../examples/inventory/workflow.ts?raw";
import onboarding from "../../../examples/onboarding/workflow.ts?raw";
import order from "../../../examples/order_processing/workflow.ts?raw";
import cart from "../../../examples/shopping_cart/workflow.ts?raw";
import { type CodeSet, codeSet } from "../store/code_set.ts";

/** Folder and text of the workflows, by type. */
const CODE: { readonly [workflowType: string]: readonly [folder: string, text: string] } = {
  BatchProcess: ["batch_process", batch],
  Counter: ["counter", counter],
  Account: ["entity", entity],
  EventCollector: ["event_collector", collector],
  Inventory: ["inventory", inventory],
  Onboarding: ["onboarding", onboarding],
  OrderProcessing: ["order_processing", order],
  ShoppingCart: ["shopping_cart", cart],
};

/** The files of the example with this workflow; undefined if no example has it. */
export function sampleCode(workflowType: string): CodeSet | undefined {
  if (!Object.hasOwn(CODE, workflowType)) return undefined;
  const [folder, text] = CODE[workflowType]!;
  const path = `${folder}/workflow.ts`;
  return codeSet({ entry: path, files: [{ path, text }], origin: "sample" });
}
