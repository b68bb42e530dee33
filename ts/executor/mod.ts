// The executor: runs workflow programs in one realm. Workflow code does not import this room; ts/workflow is its API.
export * from "./cached_run.ts";
export * from "./definition.ts";
export * from "./errors.ts";
export * from "./native_program.ts";
export * from "./program.ts";
export * from "./recording.ts";
export * from "./rejections.ts";
export * from "./replay.ts";
export * from "./slot.ts";
export * from "./task_runner.ts";
export * from "./tracing.ts";
export * from "./unknown_program.ts";
export { ANSWERED_HEADER } from "./answered.ts";
export { CANCEL_HEADER, CARRY_HEADER } from "./carry.ts";
export type { WorkflowInfo } from "./info.ts";
