// Words that the panes without code and reports share.
import type { ItemStatus, RunItem, RunLink } from "../debug/run/types.ts";
import type { ShownFailure } from "../debug/values.ts";

export const STATUS: { readonly [status in ItemStatus]: string } = {
  open: "open",
  completed: "completed",
  failed: "failed",
  timedOut: "timed out",
  canceled: "cancelled",
  terminated: "terminated",
  rejected: "rejected",
};

export const endedBadly = ({ status }: RunItem): boolean => ["failed", "timedOut", "terminated", "rejected"].includes(status);

/** The name without the word of its kind, which stands beside it. */
export const bareName = ({ kind, name }: RunItem): string => kind === "timer" ? name.replace(/^timer /, "") : name;

/** The failure that says most: what an activity threw lies within what its server says. */
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

/** "Go" for "temporal-go 1.28.1"; "" where no task says. */
export const languageOf = (sdk: string): string => SDKS[sdk.split(" ")[0]!] ?? "";

/** What another run is to this one. */
export const LINKS: { readonly [kind in RunLink["kind"]]: string } = {
  parent: "Its parent",
  root: "The first of the family",
  continuedFrom: "The run before",
  continuedAs: "The run after",
  child: "A child",
  retriedAs: "Tried again as",
  resetFrom: "Reset from",
};

/** What a report without values says of that. `kept`: how many texts the reader has agreed to keep. `byRule`: not all are replaced. */
export const redactedText = (numbers: boolean, kept: number, byRule = false): string =>
  `${
    byRule ? "Values that match the rules are replaced, others are as they were recorded" : "Values are replaced"
  }: a text became another one of the same length, the same text always the same one${
    numbers ? "; numbers, too" : "; numbers are as they were recorded"
  }.${
    kept === 0
      ? ""
      : ` ${kept === 1 ? "One text is" : `${kept} texts are`} kept, because the code depends on ${kept === 1 ? "it" : "them"}.`
  }`;
