// continueAsNew: ends this run and starts the next one of the same workflow with new arguments. It works by throwing, so code after it
// does not run; catching it and going on is a mistake.
import { ContinueAsNew as ContinueAsNewCommand } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { toPayloads } from "../../converter/payload.ts";
import {
  type SearchAttributePair,
  searchAttributePayloads,
  type SearchAttributes,
  type TypedSearchAttributes,
} from "../common/search_attributes.ts";
import { type Duration, timeoutMs } from "../common/time.ts";
import { currentRun } from "../current.ts";
import { refuseOptions } from "../unsupported.ts";
import { ContinueAsNew } from "./continue_as_new_thrown.ts";

/** A workflow's function. */
// deno-lint-ignore no-explicit-any
export type Workflow = (...args: any[]) => Promise<any>;

/** What the next run has in place of what this one has. */
export interface ContinueAsNewOptions {
  /** Type of the next run. */
  workflowType?: string;
  /** Its task queue. */
  taskQueue?: string;
  /** The longest time of the next run. */
  workflowRunTimeout?: Duration;
  /** The longest time of one of its tasks. */
  workflowTaskTimeout?: Duration;
  /** Absent: the memo of this run. */
  memo?: Record<string, unknown>;
  /** Absent, in both forms: those of this run. */
  searchAttributes?: SearchAttributes;
  /** Search attributes with their types. */
  typedSearchAttributes?: SearchAttributePair[] | TypedSearchAttributes;
}

/** Options of the official SDK that have no effect here yet. */
const UNSUPPORTED = ["backoffStartInterval", "versioningIntent", "initialVersioningBehavior", "typeInfo", "eventGroups"] as const;

/** A function that continues as new with these options. */
export function makeContinueAsNewFunc<F extends Workflow>(
  options: ContinueAsNewOptions = {},
): (...args: Parameters<F>) => Promise<never> {
  const run = currentRun(
    "Workflow.continueAsNew(...) and Workflow.makeContinueAsNewFunc(...) may only be used from a Workflow Execution.",
  );
  // deno-lint-ignore require-await
  return async (...args) => {
    refuseOptions(run, "continueAsNew", options, UNSUPPORTED);
    const memo = Object.entries(options.memo ?? {}).map(([key, value]) => [key, run.converter.toPayload(value)]);
    throw new ContinueAsNew(ContinueAsNewCommand.fromPartial({
      workflowType: options.workflowType ?? run.info.workflowType,
      taskQueue: options.taskQueue ?? run.info.taskQueue,
      arguments: toPayloads(run.converter, args),
      workflowRunTimeoutMs: timeoutMs(options.workflowRunTimeout),
      workflowTaskTimeoutMs: timeoutMs(options.workflowTaskTimeout),
      memo: Object.fromEntries(memo),
      searchAttributes: searchAttributePayloads(options.searchAttributes, options.typedSearchAttributes),
    }));
  };
}

/** Ends this run and starts the next one of the same workflow, with new arguments. */
export function continueAsNew<F extends Workflow>(...args: Parameters<F>): Promise<never> {
  return makeContinueAsNewFunc<F>()(...args);
}
