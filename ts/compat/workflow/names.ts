// Names of the official package: built-in queries, the base class of errors, a marker.
import {
  ENHANCED_STACK_TRACE,
  STACK_TRACE,
  WORKFLOW_METADATA,
} from "../../executor/program/built_in_queries.ts";
import { WorkflowError } from "../common/errors.ts";
import { defineQuery, type QueryDefinition } from "./handlers.ts";

export { WorkflowError };

/** Marks a property of an activity proxy that is not an activity. */
export const NotAnActivityMethod: symbol = Symbol.for(
  "__TEMPORAL_NOT_AN_ACTIVITY_METHOD",
);

/** SDK that recorded a stack. */
export interface StackTraceSDKInfo {
  name: string;
  version: string;
}
/** A part of a source file. */
export interface StackTraceFileSlice {
  /** Number of preceding lines. */
  line_offset: number;
  /** Text of the slice. */
  content: string;
}
/** One frame of a stack. */
export interface StackTraceFileLocation {
  file_path?: string;
  /** Line, from 1. */
  line?: number;
  /** Column, from 1. */
  column?: number;
  function_name?: string;
  /** True for code of the SDK. */
  internal_code: boolean;
}
/** Where code waits. */
export interface StackTrace {
  /** Nearest first. */
  locations: StackTraceFileLocation[];
}
/** Where the code of a workflow waits. */
export interface EnhancedStackTrace {
  /** SDK that recorded it. */
  sdk: StackTraceSDKInfo;
  sources: Record<string, StackTraceFileSlice[]>;
  /** One for each wait. */
  stacks: StackTrace[];
}

/** Queries where the workflow's code waits, as text. */
export const stackTraceQuery: QueryDefinition<string, [], string> = defineQuery(
  STACK_TRACE,
);
/** Queries where the workflow's code waits, as data. */
export const enhancedStackTraceQuery: QueryDefinition<
  EnhancedStackTrace,
  [],
  string
> = defineQuery(ENHANCED_STACK_TRACE);
/** Queries the workflow's type, messages and details. */
export const workflowMetadataQuery: QueryDefinition<unknown, [], string> = defineQuery(
  WORKFLOW_METADATA,
);
