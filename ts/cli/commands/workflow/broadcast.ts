// `workflow broadcast`: signals all subscribed runs.
import { printableLine } from "../../frame/printable.ts";
import { BroadcastIncompleteError } from "../../../client/errors.ts";
import { UsageError } from "../../frame/errors.ts";
import { Exit } from "../../frame/exit.ts";
import { withService } from "../../service/open_service.ts";
import { readInputs } from "../../text/values.ts";
import type { BroadcastCall } from "./options.ts";

export async function broadcastCommand(call: BroadcastCall): Promise<number> {
  const { signal } = call.options;
  const filter = readFilter(call.options.filter);
  const args = await readInputs(call);
  const about = { signal, ...(filter !== undefined && { filter }) };
  return await withService(call, async ({ client, settings }) => {
    try {
      const reached = await client.broadcastWithin(settings, signal, filter, args);
      call.print.result(
        { ...about, reached, missed: [] },
        () => `${printableLine(signal)} reached ${workflows(reached)}\n`,
      );
      return Exit.ok;
    } catch (error) {
      if (!(error instanceof BroadcastIncompleteError)) throw error;
      const { reached, missed } = error;
      const lines = missed.map(({ workflowId, reason }) =>
        `not ${printableLine(`${workflowId}: ${reason}`)}\n`
      );
      call.print.result(
        { ...about, reached, missed },
        () => `${printableLine(signal)} reached ${workflows(reached)}\n${lines.join("")}`,
      );
      return Exit.failed;
    }
  });
}

const workflows = (n: number): string => n === 1 ? "1 workflow" : `${n} workflows`;

function readFilter(text: string | undefined): string | number | boolean | undefined {
  if (text === undefined) return undefined;
  let filter: unknown;
  try {
    filter = JSON.parse(text);
  } catch (error) {
    const quoted = JSON.stringify(text);
    throw new UsageError(
      `--filter is not JSON: ${
        (error as Error).message
      }; a text needs its own quotes: --filter '${quoted}'`,
    );
  }
  if (typeof filter === "number") return text.trim() === String(filter) ? filter : exact(text);
  if (typeof filter === "boolean" || (typeof filter === "string" && filter !== "")) return filter;
  throw new UsageError(`--filter is a non-empty string, a number or a boolean, not ${text}`);
}

/**
 * Keeps the digits of a number that JavaScript would format differently; filters are compared as
 * text.
 */
function exact(text: string): string {
  const digits = text.trim();
  if (/^-?[0-9]+$/.test(digits)) return digits;
  throw new UsageError(
    `--filter ${text}: write the number as JavaScript does: ${String(Number(digits))}`,
  );
}
