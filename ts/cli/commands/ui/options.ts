// Options of the command and the type of its call.
import type { Call, Options } from "../../frame/command.ts";
import { CODE_OPTIONS } from "../../page/code_modules.ts";
import { PAGE_OPTIONS } from "../../page/options.ts";
import { SERVICE_OPTIONS } from "../../service/options.ts";

export const options = {
  ...CODE_OPTIONS,
  ...PAGE_OPTIONS,
  readOnly: {
    type: "flag",
    help: "Reject calls that change data: starts, signals, updates, cancellations, schedules",
  },
  allNamespaces: {
    type: "flag",
    help: "Let the page show every namespace of the server, not only that of --namespace",
  },
  ...SERVICE_OPTIONS,
} as const satisfies Options;

export type UiCall = Call<typeof options>;
