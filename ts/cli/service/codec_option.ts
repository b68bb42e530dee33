// The option --codec of commands with payloads. Separate, so that --help loads no codec.
export const codecOption = {
  type: "text",
  value: "module",
  completes: "files",
  env: "TEMPORALEX_CODEC",
  help:
    "Module that exports `codec` (a payload codec or a list), or a `dataConverter` with payloadCodecs. If failures are encoded, the module also exports `encodeCommonAttributes`",
} as const;
