// The executor: runs workflow programs in one realm. Workflow code does not import this room; ts/workflow is its API.
export * from "./tasks/cached_run.ts";
export * from "./scheduler/definition.ts";
export * from "./scheduler/errors.ts";
export * from "./tasks/native_program.ts";
export * from "./tasks/program.ts";
export * from "./tasks/recording.ts";
export * from "./scheduler/rejections.ts";
export * from "./tasks/replay.ts";
export * from "./scheduler/current.ts";
export * from "./tasks/task_runner.ts";
export * from "./tasks/tracing.ts";
export * from "./tasks/unknown_program.ts";
export { ANSWERED_HEADER } from "./scheduler/update_dedup.ts";
export { CANCEL_HEADER, CARRY_HEADER } from "./scheduler/continue_as_new_headers.ts";
export type { WorkflowInfo } from "./scheduler/info.ts";
