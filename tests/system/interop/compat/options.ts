// The program of the option walk: issues one command with the options that it is given, and ends in
// the same task.
import {
  condition,
  getExternalWorkflowHandle,
  makeContinueAsNewFunc,
  proxyActivities,
  proxyLocalActivities,
  sleep,
  startChild,
  upsertMemo,
  upsertSearchAttributes,
} from "@temporalio/workflow";

export interface Step {
  readonly command: string;
  // deno-lint-ignore no-explicit-any
  readonly options: any;
}

const quiet = (promise: Promise<unknown>) => void promise.catch(() => {});

const TYPE = {
  transferTypeConverter: {
    fromTransferType: (value: string) => `received ${value}`,
    toTransferType: (value: string) => `sent ${value}`,
  },
};

/** Values that JSON does not carry. */
// deno-lint-ignore no-explicit-any
function revived(options: any): any {
  return JSON.parse(JSON.stringify(options), (_, value) => {
    if (value === "$infinity") return Number.POSITIVE_INFINITY;
    if (value === "$types") return { inputTypes: [TYPE], outputType: TYPE };
    return typeof value === "object" && value !== null && "$date" in value
      ? new Date(value.$date)
      : value;
  });
}

export async function walk(step: Step | "end"): Promise<void> {
  if (typeof step === "string") return;
  const { activityTypeInfo, ...options } = revived(step.options);
  switch (step.command) {
    case "activity":
      return quiet(
        proxyActivities({ startToCloseTimeout: "1 minute", activityTypeInfo }).work!
          .executeWithOptions(options, ["input"]),
      );
    case "local activity":
      return void await proxyLocalActivities({
        startToCloseTimeout: "1 minute",
        activityTypeInfo,
      }).work!.executeWithOptions(options, ["input"]);
    case "child":
      return quiet(
        startChild("kid", { workflowId: "kid", args: ["input"], ...options }),
      );
    case "continue as new":
      return void await makeContinueAsNewFunc<typeof walk>(options)("end");
    case "timer":
      return quiet(sleep("1 minute", options));
    case "condition":
      return quiet(condition(() => false, "1 minute", options));
    case "signal":
      return quiet(
        getExternalWorkflowHandle("absent", options.runId).signalWithOptions(
          "hello",
          { args: options.args },
        ),
      );
    case "cancel":
      return quiet(getExternalWorkflowHandle("absent", options.runId).cancel());
    case "memo":
      return upsertMemo(options.memo);
    case "search attributes":
      return upsertSearchAttributes(options.searchAttributes);
    default:
      throw new Error(`no such command: ${step.command}`);
  }
}
