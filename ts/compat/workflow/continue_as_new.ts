// continueAsNew: ends this run and starts the next one with new arguments. It throws, so that later
// code does not run; programs must not catch the error and continue.
import { type OptionNames, rejectMisspelledOptions } from "../../base/option_names.ts";
import { ContinueAsNew as ContinueAsNewCommand } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { searchAttributePayloads } from "../common/search_attributes.ts";
import { timeoutMs } from "../common/time.ts";
import { currentCompatRun } from "../current.ts";
import { callThrough } from "../interception.ts";
import { encodeArguments } from "../typed_values.ts";
import { encodeInitialVersioningBehavior } from "../common/policies.ts";
import { versioningIntent } from "./encoded_options.ts";
import { encodeGroups } from "./event_groups.ts";
import { ContinueAsNew } from "./continue_as_new_thrown.ts";
import type { ContinueAsNewOptions } from "./options.ts";
import type { ContinueAsNewInput } from "./interceptors.ts";

/** A workflow's function. */
// deno-lint-ignore no-explicit-any
export type Workflow = (...args: any[]) => Promise<any>;

const CONTINUE_OPTIONS: OptionNames<ContinueAsNewOptions> = {
  ...{
    workflowType: 1,
    taskQueue: 1,
    workflowRunTimeout: 1,
    workflowTaskTimeout: 1,
    backoffStartInterval: 1,
    memo: 1,
  },
  ...{
    versioningIntent: 1,
    initialVersioningBehavior: 1,
    searchAttributes: 1,
    typedSearchAttributes: 1,
    typeInfo: 1,
  },
  eventGroups: 1,
};

/** Returns a function that continues as new with these options. */
export function makeContinueAsNewFunc<F extends Workflow>(
  options: ContinueAsNewOptions = {},
): (...args: Parameters<F>) => Promise<never> {
  const run = currentCompatRun(
    "Workflow.continueAsNew(...) and Workflow.makeContinueAsNewFunc(...) may only be used from a Workflow Execution.",
  );
  rejectMisspelledOptions("makeContinueAsNewFunc", options, CONTINUE_OPTIONS);
  const { workflowType = run.info.workflowType, taskQueue = run.info.taskQueue, ...rest } = options;
  // deno-lint-ignore require-await
  const last = async ({ args, headers, options }: ContinueAsNewInput): Promise<never> => {
    const own = options.workflowType === run.info.workflowType
      ? run.staticOptions.typeInfo
      : undefined;
    const memo = Object.entries(options.memo ?? {}).map((
      [key, value],
    ) => [key, run.converter.toPayload(value)]);
    const command = ContinueAsNewCommand.fromPartial({
      workflowType: options.workflowType,
      taskQueue: options.taskQueue ?? "",
      arguments: encodeArguments(run.converter, args, options.typeInfo ?? own),
      headers,
      workflowRunTimeoutMs: timeoutMs(options.workflowRunTimeout),
      workflowTaskTimeoutMs: timeoutMs(options.workflowTaskTimeout),
      backoffStartIntervalMs: timeoutMs(options.backoffStartInterval),
      versioningIntent: versioningIntent(options.versioningIntent),
      initialVersioningBehavior:
        encodeInitialVersioningBehavior(options.initialVersioningBehavior) ?? 0,
      memo: Object.fromEntries(memo),
      searchAttributes: searchAttributePayloads(
        options.searchAttributes,
        options.typedSearchAttributes,
      ),
    });
    throw new ContinueAsNew(command, encodeGroups(run, options.eventGroups));
  };
  return (...args) =>
    callThrough(run, "outbound", "continueAsNew", last)({
      args,
      headers: {},
      options: { workflowType, taskQueue, ...rest },
    });
}

/** Ends this run and starts the next one with new arguments. */
export function continueAsNew<F extends Workflow>(...args: Parameters<F>): Promise<never> {
  return makeContinueAsNewFunc<F>()(...args);
}
