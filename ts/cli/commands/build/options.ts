// Options of the command and the type of its call.
import type { Call, Options } from "../../frame/command.ts";
import { PAYLOAD_CONVERTER, WORKFLOW_MODULES } from "../../service/workflow_modules_options.ts";

/** Default output file. */
export const DEFAULT_OUT = "workflows.bundle.js";

export const options = {
  ...WORKFLOW_MODULES,
  payloadConverter: PAYLOAD_CONVERTER,
  out: {
    type: "text",
    value: "file",
    default: DEFAULT_OUT,
    completes: "files",
    help: "File to write; -: standard output",
  },
} as const satisfies Options;

export type BuildCall = Call<typeof options>;
