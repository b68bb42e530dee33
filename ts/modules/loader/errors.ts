// What the loader refuses and what it warns of. A refusal names the file, the line and what to write instead; all refusals of a
// module graph are collected into one error, so that a user fixes them in one go.

/** Stable names of refusals and warnings. */
export type ProblemCode =
  | "syntax"
  | "not-found"
  | "unsupported-file"
  | "builtin-import"
  | "remote-import"
  | "dynamic-import"
  | "top-level-await"
  | "import-meta"
  | "require"
  | "node-global"
  | "missing-export"
  | "read-only-import"
  | "namespace"
  | "module-state"
  | "recent-name"
  | "evaluation";

/** One refusal or warning. */
export interface Problem {
  /** Which rule was broken. */
  readonly code: ProblemCode;
  /** The module as its author knows it: a path where it is a file. */
  readonly file: string;
  /** From 1; 0 when the problem is the file as a whole. */
  readonly line: number;
  /** From 1; 0 when not known. */
  readonly column: number;
  /** The name concerned: a specifier, a variable. */
  readonly name: string;
  /** What is wrong, and what to write instead. */
  readonly message: string;
}

/** `file:line:column: message`, the form that editors and terminals turn into links. */
export function formatProblem({ file, line, column, message }: Problem): string {
  const at = line === 0 ? file : column === 0 ? `${file}:${line}` : `${file}:${line}:${column}`;
  return `${at}: ${message}`;
}

/** Workflow modules that cannot be loaded into a realm. */
export class WorkflowLoadError extends Error {
  override name = "WorkflowLoadError";
  /** Everything that was found, at least one. */
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], options?: ErrorOptions) {
    const shown = problems.slice(0, 20).map((p) => `  ${formatProblem(p)}`);
    if (problems.length > shown.length) shown.push(`  and ${problems.length - shown.length} more`);
    super(
      problems.length === 1
        ? `this workflow module cannot be loaded: ${formatProblem(problems[0]!)}`
        : `these workflow modules cannot be loaded:\n${shown.join("\n")}`,
      options,
    );
    this.problems = problems;
  }
}

/** A path for `file:` URLs, the name for modules of a bundle, the URL itself otherwise. */
export function displayName(url: string): string {
  const bundled = /^bundle:\/\/\d*\//.exec(url);
  if (bundled !== null) return decodeURIComponent(url.slice(bundled[0].length));
  if (!url.startsWith("file:///")) return url;
  const path = decodeURIComponent(url.slice("file://".length));
  return /^\/[A-Za-z]:\//.test(path) ? path.slice(1) : path;
}
