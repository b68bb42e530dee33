// Names of the official package that stand for something: queries that each workflow answers, the base of its errors, a mark.
import { ENHANCED_STACK_TRACE, STACK_TRACE, WORKFLOW_METADATA } from "../../executor/program/built_in_queries.ts";
import { WorkflowError } from "../common/errors.ts";
import { defineQuery, type QueryDefinition } from "./handlers.ts";

export { WorkflowError };

/** Marks a property of a proxy of activities that is no activity. */
export const NotAnActivityMethod: symbol = Symbol.for(
  "__TEMPORAL_NOT_AN_ACTIVITY_METHOD",
);

/** Who has recorded a stack. */
export interface StackTraceSDKInfo {
  /** Name of the SDK. */
  name: string;
  /** Its version. */
  version: string;
}
/** A part of a source file. */
export interface StackTraceFileSlice {
  /** Lines before it. */
  line_offset: number;
  /** Its text. */
  content: string;
}
/** One line of a stack. */
export interface StackTraceFileLocation {
  /** The file. */
  file_path?: string;
  /** From 1. */
  line?: number;
  /** From 1. */
  column?: number;
  /** The function. */
  function_name?: string;
  /** It is the SDK's own. */
  internal_code: boolean;
}
/** Where code waits. */
export interface StackTrace {
  /** Nearest first. */
  locations: StackTraceFileLocation[];
}
/** Where the code of a workflow waits. */
export interface EnhancedStackTrace {
  /** Who has recorded it. */
  sdk: StackTraceSDKInfo;
  /** Sources by file. */
  sources: Record<string, StackTraceFileSlice[]>;
  /** One for each thing that is waited for. */
  stacks: StackTrace[];
}

/** Where the workflow's code waits, as text. */
export const stackTraceQuery: QueryDefinition<string, [], string> = defineQuery(
  STACK_TRACE,
);
/** Where the workflow's code waits, as data. */
export const enhancedStackTraceQuery: QueryDefinition<
  EnhancedStackTrace,
  [],
  string
> = defineQuery(ENHANCED_STACK_TRACE);
/** The workflow's type, its messages, and its details. */
export const workflowMetadataQuery: QueryDefinition<unknown, [], string> = defineQuery(WORKFLOW_METADATA);
