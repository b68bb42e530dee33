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
      "URL of a codec server (Temporal's protocol): the page sends encoded values to <url>/decode when you press Decode",
  },
  codecHeader: {
    type: "text",
    value: "name: value",
    many: true,
    help: 'Header of each request to the codec endpoint, for example "Authorization: Bearer TOKEN"',
  },
  ...PAGE_OPTIONS,
  workflowId: {
    ...WORKFLOW_ID,
    required: false,
    help: "Workflow ID of a run of a store or a cluster, instead of files",
  },
  runId: RUN_ID,
  ...SERVICE_OPTIONS,
} as const satisfies Options;

export type DebugCall = Call<typeof options>;
