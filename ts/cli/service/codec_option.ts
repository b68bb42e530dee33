// The option --codec of every command that reads or writes payloads. Apart from what it does, so that --help loads nothing.
export const codecOption = {
  type: "text",
  value: "module",
  completes: "files",
  env: "TEMPORALEX_CODEC",
  help:
    "A module that exports `codec` (a payload codec, or a list of them; or a `dataConverter` with payloadCodecs), and `encodeCommonAttributes` where failures are encoded too",
} as const;
