// The workflows of the examples that this page runs.
export { batchProcess } from "../../examples/batch_process/workflow.ts";
export { counter } from "../../examples/counter/workflow.ts";
export { eventCollector } from "../../examples/event_collector/workflow.ts";
export { inventory } from "../../examples/inventory/workflow.ts";
export { onboarding } from "../../examples/onboarding/workflow.ts";
export { orderProcessing } from "../../examples/order_processing/workflow.ts";
export { shoppingCart } from "../../examples/shopping_cart/workflow.ts";
