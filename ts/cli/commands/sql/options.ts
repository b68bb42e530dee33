// Options of the command and the type of its call.
import type { Call, Options } from "../../frame/command.ts";
import { SERVICE_OPTIONS } from "../../service/options.ts";

const { codec: _codec, identity: _identity, ...where } = SERVICE_OPTIONS;

export const options = {
  ...where,
  store: { ...where.store, help: "Store file. Default: ./temporalex.sqlite" },
  address: { ...where.address, help: "A server instead of a store: temporalex dev --db-filename" },
  timeout: {
    type: "duration",
    value: "duration",
    default: 30_000,
    aliases: ["commandTimeout"],
    help: "The query is stopped after this time; at most 1h",
  },
  csv: { type: "flag", help: "Comma-separated values (RFC 4180), with the columns' names first" },
  csvRaw: {
    type: "flag",
    help: "With --csv: texts as stored, with control characters and formulas",
  },
} as const satisfies Options;
export type SqlCall = Call<typeof options>;
