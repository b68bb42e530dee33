// Code to paste that makes open runs replay again: old behavior for runs that have it in history,
// new behavior for others.
import type { Pair } from "./align.ts";
import { describeAction } from "./steps.ts";
import type { LikelyEdit, Repair } from "./types.ts";

/** Returns undefined if no patch would help: the likely edit is unknown. */
export function suggestRepair(
  { history: here, code }: Omit<Pair, "same">,
  { kind, subject }: LikelyEdit,
  location: string,
): Repair | undefined {
  const repair = (patchId: string, text: string, lines: readonly string[]): Repair => ({
    patchId,
    text,
    code: lines.join("\n"),
    location,
  });
  const old = here === undefined ? "" : here.text;
  switch (kind) {
    case "inserted":
    case "endedLate": {
      const id = makePatchId("with", code?.name || code?.kind);
      return repair(id, "Put the new step behind a patch; open runs continue without it.", [
        `if (patched("${id}")) {`,
        `  // the line that ${code === undefined ? "is new" : describeAction(code)}`,
        "}",
      ]);
    }
    case "removed": {
      const id = makePatchId("without", here?.name || here?.kind);
      return repair(id, "Keep the old step for runs that have it.", [
        `if (!patched("${id}")) {`,
        `  // as before: ${old}`,
        "}",
      ]);
    }
    case "renamed":
    case "changedKind":
    case "reordered": {
      const id = makePatchId(
        kind === "reordered" ? "order-of" : "new",
        code?.name || code?.kind || subject,
      );
      return repair(id, "Keep the old step next to the new one.", [
        `if (patched("${id}")) {`,
        `  // the new way: ${code?.text ?? subject}`,
        "} else {",
        `  // as before: ${old === "" ? subject : old}`,
        "}",
      ]);
    }
    case "endedEarly": {
      const id = makePatchId("ends-before", here?.name || here?.kind);
      return repair(id, "Keep the old behavior for open runs.", [
        `if (patched("${id}")) {`,
        "  return; // the new end",
        "}",
      ]);
    }
    case "patchRenamed":
      return repair(subject, "Use the patch id that history has.", [`patched("${subject}")`]);
    case "patchRemoved":
      return repair(subject, "Deprecate the patch until no open run has it.", [
        `deprecatePatch("${subject}");`,
      ]);
    case "handlerMissing":
      return here?.kind === "update" && here.name === subject
        ? repair("", `Handle update ${subject} here until no open run has accepted it here.`, [])
        : repair("", `Handle ${subject} here until no open run can receive it.`, []);
    default:
      return undefined;
  }
}

const makePatchId = (word: string, name: string | undefined): string =>
  `${word}-${
    (name ?? "step").replace(/([a-z0-9])([A-Z])/g, "$1-$2").replace(/[^A-Za-z0-9]+/g, "-")
      .toLowerCase()
  }`;
