// Predicates on verdicts. This file is small because realms load it with every replay.
import type { ReplayVerdict } from "../executor/tasks/replay.ts";

/** The core's number for a command that history does not have. */
export const EXTRA_COMMAND = 2014;

/** Workflow code threw this error, so nothing can be compared with history. */
export const isThrownByCode = ({ verdict, error }: ReplayVerdict): boolean =>
  verdict === "failed" && error?.thrown !== undefined && error.name !== "HistoryMismatchError";

/** The core found a command that history does not have, and the replay passed. */
export const hasExtraCommand = (
  { verdict, warnings }: Pick<ReplayVerdict, "verdict" | "warnings">,
): boolean => verdict === "ok" && warnings.some(({ code }) => code === EXTRA_COMMAND);
