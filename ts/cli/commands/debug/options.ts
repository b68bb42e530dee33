// Options of the command and the type of its call.
import type { Call, Options } from "../../frame/command.ts";
import { CODE_OPTIONS } from "../../page/code_modules.ts";
import { PAGE_OPTIONS } from "../../page/options.ts";
import { RUN_ID, SERVICE_OPTIONS, WORKFLOW_ID } from "../../service/options.ts";

export const options = {
  ...CODE_OPTIONS,
  codecEndpoint: {
    type: "text",
    value: "url",
    help:
      "A codec server of Temporal's protocol: the page posts encoded values to <url>/decode when you press Decode there",
  },
  codecHeader: {
    type: "text",
    value: "name: value",
    many: true,
    help: "Header of every request to the codec endpoint",
  },
  ...PAGE_OPTIONS,
  workflowId: {
    ...WORKFLOW_ID,
    required: false,
    help: "The run of a store or a cluster, instead of files; an open one is followed",
  },
  runId: RUN_ID,
  ...SERVICE_OPTIONS,
} as const satisfies Options;

export type DebugCall = Call<typeof options>;
