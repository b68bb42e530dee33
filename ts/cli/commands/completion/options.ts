// Options of the commands, and the calls that they make.
import type { Call, Options } from "../../frame/command.ts";

export const options = {} as const satisfies Options;
export type CompletionCall = Call<typeof options>;
