// An unknown workflow type. The task fails (another worker or a deployment may have the type), with
// a list of the known types.
import { JobOrder } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { UnknownWorkflowError } from "../program/errors.ts";
import { SDK_NAME } from "../program/sdk_name.ts";
import type { Program } from "../program/program.ts";

export function unknownWorkflow(
  workflowType: string,
  known: readonly string[],
  hint = "",
): Program {
  const names = known.length === 0
    ? "it has no workflow types"
    : `it has ${known.map((name) => `"${name}"`).join(", ")}`;
  return failingProgram(
    `workflow type "${workflowType}" is not known to this worker; ${names}${hint}`,
  );
}

/** The same with the message of Temporal's SDK, for which tests and dashboards search. */
export function unknownTemporalWorkflow(workflowType: string): Program {
  return failingProgram(
    `Failed to initialize workflow of type '${workflowType}': no such function is exported by the workflow bundle`,
  );
}

function failingProgram(message: string): Program {
  return {
    jobOrder: JobOrder.JOB_ORDER_NATIVE,
    sdkName: SDK_NAME,
    createActivator: () => ({
      activate: () => Promise.reject(new UnknownWorkflowError(message)),
      dispose: () => {},
    }),
  };
}
