// `temporalex history redact`.
import { redact, type RedactedHistory } from "../../../debug/take_away/redact.ts";
import { historyJson } from "../../../debug/take_away/test_file.ts";
import { Exit } from "../../frame/exit.ts";
import { CommandError } from "../../frame/errors.ts";
import { printable } from "../../frame/printable.ts";
import type { RedactCall } from "./options.ts";
import { redactionOf } from "./rules.ts";
import { newFile, readHistoryAt, withRealm, write } from "./support.ts";

export async function redactCommand(call: RedactCall): Promise<number> {
  const { options, args, io, print, signal } = call;
  const to = newFile(io, options.out);
  const { key, match, numbers, taskQueues, keep } = options;
  const chosen = { ...redactionOf({ key, match, numbers, taskQueues, keep }, "--"), signal };
  const history = await readHistoryAt(io, args[0]!);
  const result: RedactedHistory = options.unverified
    ? await redact(history, chosen)
    : await withRealm(io, options, (realm) => redact(history, { ...chosen, realm }));
  const { history: redacted, replaced, needed, verified } = result;
  if (redacted === undefined) {
    const texts = needed.map((text) => `  ${JSON.stringify(printable(text))}`).join("\n");
    throw new CommandError(
      `nothing was written: without these texts the code goes another way. Keep each with --keep:\n${texts}`,
    );
  }
  write(to, historyJson(redacted));
  print.result({ to, replaced, ...(verified !== undefined && { verified }) }, () => {
    const verdict = verified === true
      ? "it replays as before"
      : "not replayed: the verdict may differ";
    return `${options.out}: ${replaced} values replaced; ${verdict}\n`;
  });
  return Exit.ok;
}
