// `temporalex history ...`: reduces and redacts histories.
import { command, type Group } from "../../frame/command.ts";
import { minimizeOptions, redactOptions, testOptions } from "./options.ts";

const HISTORY = {
  name: "history",
  required: true,
  completes: "files",
  help: "History file, in any export format",
} as const;

const minimize = command({
  summary: "reduce a history to the smallest one that diverges",
  description:
    `Removes the events after the divergence between code and history. With --repaired or --thorough, also removes each earlier message, activity and task that is not needed for the same divergence (same problem, difference and line).`,
  options: minimizeOptions,
  args: HISTORY,
  exits: [
    "0 the history is written",
    "1 the history replays without a divergence, or cannot be read",
    "2 wrong usage",
  ],
  examples: [{
    line: "temporalex history minimize order-17.json --workflows src/workflows.ts --out small.json",
  }],
  run: async (call) => (await import("./minimize.ts")).minimizeCommand(call),
});

const redact = command({
  summary: "replace the values of a history",
  description:
    `Replaces text in payloads, failures, headers, memos, search attributes and identities with other text of the same length. The same text always gets the same replacement. Replays both histories to check that the verdict is the same. Texts on which the code depends are listed; keep them with --keep.`,
  options: redactOptions,
  args: HISTORY,
  exits: [
    "0 the history is written",
    "1 the code depends on texts that --keep does not list, or the history cannot be read",
    "2 wrong usage",
  ],
  examples: [
    {
      line: "temporalex history redact order-17.json --workflows src/workflows.ts --out shown.json",
    },
    {
      line: "temporalex history redact order-17.json --match '@' --unverified --out shown.json",
      what: "replace only texts that contain an @",
    },
  ],
  run: async (call) => (await import("./redact.ts")).redactCommand(call),
});

const test = command({
  summary: "write a failing test for a divergence",
  description:
    `Writes a test that replays the history against your workflows, and the history in a file next to the test. The history ends after the divergence (with --repaired, it is minimized). The test fails until the code replays the history again.`,
  options: testOptions,
  args: HISTORY,
  exits: [
    "0 both files are written",
    "1 the history replays without a divergence, or cannot be read",
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
  summary: "minimize or redact a history, or make it a test",
  commands: { minimize, redact, test },
};
