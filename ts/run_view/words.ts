// Texts that the page and reports share.
import type { ItemStatus, RunItem, RunLink } from "../debug/run/types.ts";
import type { ShownFailure } from "../debug/values.ts";

export const STATUS: { readonly [status in ItemStatus]: string } = {
  open: "open",
  completed: "completed",
  failed: "failed",
  timedOut: "timed out",
  canceled: "canceled",
  terminated: "terminated",
  rejected: "rejected",
};

export const endedBadly = ({ status }: RunItem): boolean =>
  ["failed", "timedOut", "terminated", "rejected"].includes(status);

/** The name without its kind, which is shown next to it. */
export const bareName = ({ kind, name }: RunItem): string =>
  kind === "timer" ? name.replace(/^timer /, "") : name;

/** The most specific failure: the error of an activity is the cause of the server's failure. */
export const innermost = (failure: ShownFailure): ShownFailure =>
  failure.cause === undefined || failure.cause.message === "" ? failure : innermost(failure.cause);

const SDKS: { readonly [name: string]: string } = {
  "temporal-go": "Go",
  "temporal-java": "Java",
  "temporal-python": "Python",
  "temporal-dotnet": ".NET",
  "temporal-php": "PHP",
  "temporal-ruby": "Ruby",
  "temporal-typescript": "TypeScript",
};

/** "Go" for "temporal-go 1.28.1"; "" if no task has the name of an SDK. */
export const languageOf = (sdk: string): string => SDKS[sdk.split(" ")[0]!] ?? "";

/** The relation of another run to this one. */
export const LINKS: { readonly [kind in RunLink["kind"]]: string } = {
  parent: "Parent",
  root: "Root",
  continuedFrom: "Previous run",
  continuedAs: "Next run",
  child: "Child",
  retriedAs: "Retried as",
  resetFrom: "Reset from",
};

/**
 * The note of a report without values. `kept`: number of texts that the reader agreed to keep.
 * `byRule`: only matching values are replaced.
 */
export const redactedText = (numbers: boolean, kept: number, byRule = false): string =>
  `${
    byRule
      ? "Values that match the rules are replaced, other values are as recorded"
      : "Values are replaced"
  }: each text by another one of the same length, equal texts by equal ones${
    numbers ? "; numbers, too" : "; numbers are as recorded"
  }.${
    kept === 0
      ? ""
      : ` ${kept === 1 ? "One text is" : `${kept} texts are`} kept, because the code depends on ${
        kept === 1 ? "it" : "them"
      }.`
  }`;
