// Options of the commands, and the calls that they make.
import { codecOption } from "../../service/codec_option.ts";
import type { Call, Options } from "../../frame/command.ts";

export const options = {
  workflows: {
    type: "text",
    value: "module",
    many: true,
    completes: "files",
    help: 'A module that exports workflows. Default: the modules under "temporalex": { "workflows": [...] } in package.json',
  },
  codec: codecOption,
  strict: {
    type: "flag",
    help: "Extra commands at the end of a task, and swapped update ids, fail the replay instead of being warnings",
  },
} as const satisfies Options;

export type ReplayCall = Call<typeof options>;
