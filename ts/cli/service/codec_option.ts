// The option --codec of commands with payloads. Separate, so that --help loads no codec.
export const codecOption = {
  type: "text",
  value: "module",
  completes: "files",
  env: "TEMPORALEX_CODEC",
  help:
    "A module that exports `codec` (a payload codec, or a list of them; or a `dataConverter` with payloadCodecs), and `encodeCommonAttributes` where failures are encoded too",
} as const;
