// Options of the command, and the call that it makes.
import type { Call, Options } from "../../frame/command.ts";
import { SERVICE_OPTIONS } from "../../service/options.ts";

const { store } = SERVICE_OPTIONS;

export const options = {
  store: { ...store, help: "Store file. Default: ./temporalex.sqlite" },
  csv: { type: "flag", help: "Comma-separated values (RFC 4180), with the columns' names first" },
} as const satisfies Options;
export type SqlCall = Call<typeof options>;
