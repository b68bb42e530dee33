// `temporalex history redact`.
import { redact, type RedactedHistory, type RedactionRule } from "../../../debug/take_away/redact.ts";
import { historyJson } from "../../../debug/take_away/test_file.ts";
import { Exit } from "../../frame/exit.ts";
import { CommandError, UsageError } from "../../frame/errors.ts";
import { printable } from "../../frame/printable.ts";
import type { RedactCall } from "./options.ts";
import { newFile, readHistory, withRealm, write } from "./support.ts";

export async function redactCommand(call: RedactCall): Promise<number> {
  const { options, args, io, print, signal } = call;
  const to = newFile(io, options.out);
  const { numbers, taskQueues, keep } = options;
  const rules = rulesOf(options.key, options.match);
  const history = await readHistory(io, args[0]!);
  const chosen = { numbers, taskQueues, keep, signal, ...(rules !== undefined && { rules }) };
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
    const verdict = verified === true ? "it replays as before" : "not replayed: the verdict may differ";
    return `${options.out}: ${replaced} values replaced; ${verdict}\n`;
  });
  return Exit.ok;
}

/** Undefined without any: then all texts are replaced. */
function rulesOf(keys: readonly string[], values: readonly string[]): RedactionRule[] | undefined {
  if (keys.length === 0 && values.length === 0) return undefined;
  const pattern = (text: string, option: string): RegExp => {
    try {
      return new RegExp(text, "u");
    } catch (error) {
      throw new UsageError(`${option} ${text}: ${(error as Error).message}`);
    }
  };
  return [
    ...keys.map((key) => ({ key: pattern(key, "--key") })),
    ...values.map((value) => ({ value: pattern(value, "--match") })),
  ];
}
