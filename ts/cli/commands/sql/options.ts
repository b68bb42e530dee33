// Options of the command and the type of its call.
import type { Call, Options } from "../../frame/command.ts";
import { SERVICE_OPTIONS } from "../../service/options.ts";

const { codec: _codec, identity: _identity, ...where } = SERVICE_OPTIONS;

export const options = {
  ...where,
  store: { ...where.store, help: "Store file. Default: ./temporalex.sqlite" },
  address: {
    ...where.address,
    help: "Address of a temporalex dev server (started with --db-filename), instead of a store",
  },
  timeout: {
    type: "duration",
    value: "duration",
    default: 30_000,
    aliases: ["commandTimeout"],
    help: "Time limit of the query; at most 1h",
  },
  csv: { type: "flag", help: "Comma-separated values (RFC 4180) with a header line" },
  csvRaw: {
    type: "flag",
    help: "With --csv: print text as stored, with control characters and formulas",
  },
} as const satisfies Options;
export type SqlCall = Call<typeof options>;
