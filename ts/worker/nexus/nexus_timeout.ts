// The Request-Timeout header of a Nexus request: "9.5s", "800ms", "2m".
import type { Logger } from "../../base/logger.ts";

const UNIT_MS: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000 };

/**
 * Returns milliseconds; undefined if the header is missing or invalid: only the server enforces it
 * then.
 */
export function nexusTimeoutMs(
  header: string | undefined,
  logger: Pick<Logger, "warn">,
): number | undefined {
  if (header === undefined) return undefined;
  const [, value, unit] = /^([0-9.]+)(ms|s|m)$/.exec(header.trim()) ?? [];
  const ms = Number(value) * (UNIT_MS[unit ?? ""] ?? NaN);
  if (Number.isFinite(ms)) return ms;
  logger.warn(
    "the Request-Timeout header of a Nexus request is invalid; its handler gets no deadline",
    {
      header,
    },
  );
  return undefined;
}
