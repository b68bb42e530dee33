// `temporalex history ...`: reduces and redacts histories.
import { command, type Group } from "../../frame/command.ts";
import { minimiseOptions, redactOptions, testOptions } from "./options.ts";

const HISTORY = {
  name: "history",
  required: true,
  completes: "files",
  help: "A history, in any form that is exported",
} as const;

const minimise = command({
  summary: "the smallest history that shows the same divergence",
  description:
    `Removes the events after the point at which code and history diverge. With --repaired, or --thorough, also leaves out every message, activity and task before it without which the replay goes wrong in the same way: the same problem, the same difference, the same line.`,
  options: minimiseOptions,
  args: HISTORY,
  exits: [
    "0 the history is written",
    "1 it replays against this code, or cannot be read",
    "2 wrong usage",
  ],
  examples: [{
    line: "temporalex history minimise order-17.json --workflows src/workflows.ts --out small.json",
  }],
  run: async (call) => (await import("./minimise.ts")).minimiseCommand(call),
});

const redact = command({
  summary: "a history without its values, that replays as before",
  description:
    `Replaces texts of payloads, failures, headers, memos, search attributes and identities by others of the same length, the same text always by the same one, and replays both histories: the verdict must be the same. Texts on which the code depends are named, and are kept only with --keep.`,
  options: redactOptions,
  args: HISTORY,
  exits: [
    "0 the history is written",
    "1 texts are needed that were not kept, or it cannot be read",
    "2 wrong usage",
  ],
  examples: [
    {
      line: "temporalex history redact order-17.json --workflows src/workflows.ts --out shown.json",
    },
    {
      line: "temporalex history redact order-17.json --match '@' --unverified --out shown.json",
      what: "texts with an @ alone",
    },
  ],
  run: async (call) => (await import("./redact.ts")).redactCommand(call),
});

const test = command({
  summary: "a divergence as a failing test",
  description:
    `Writes a test that replays the history against your workflows, with the history in a file next to it, cut off after the divergence (with --repaired: minimised). It fails until the code replays the history again.`,
  options: testOptions,
  args: HISTORY,
  exits: [
    "0 both files are written",
    "1 the history replays against this code, or cannot be read",
    "2 wrong usage",
  ],
  examples: [
    {
      line:
        "temporalex history test order-17.json --workflows src/workflows.ts --out tests/order-17.test.mjs",
    },
    {
      line:
        "temporalex history test order-17.json --workflows src/workflows.ts --runner vitest --out tests/order-17.test.ts",
    },
  ],
  run: async (call) => (await import("./test.ts")).testCommand(call),
});

export const history: Group = {
  summary: "histories made small, without their values, or a test",
  commands: { minimise, redact, test },
};
