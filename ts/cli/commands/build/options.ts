// Options of the command, and the calls that they make.
import type { Call, Options } from "../../frame/command.ts";
import { PAYLOAD_CONVERTER, WORKFLOW_MODULES } from "../../service/workflow_modules_options.ts";

/** The file that is written where no other is named. */
export const DEFAULT_OUT = "workflows.bundle.js";

export const options = {
  ...WORKFLOW_MODULES,
  payloadConverter: PAYLOAD_CONVERTER,
  out: {
    type: "text",
    value: "file",
    default: DEFAULT_OUT,
    completes: "files",
    help: "The file to write; - for standard output",
  },
} as const satisfies Options;

export type BuildCall = Call<typeof options>;
