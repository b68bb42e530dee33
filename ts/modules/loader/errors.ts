// Problems that the loader rejects or warns of. Each has the file, the line and an alternative. All
// problems of a module graph are collected into one error.

/** Stable identifiers of problems. */
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

/** One problem. */
export interface Problem {
  /** The rule that was violated. */
  readonly code: ProblemCode;
  /** The module as its author knows it: a path if it is a file. */
  readonly file: string;
  /** From 1; 0 for the file as a whole. */
  readonly line: number;
  /** From 1; 0 if unknown. */
  readonly column: number;
  /** The specifier or variable concerned. */
  readonly name: string;
  /** The problem, and an alternative. */
  readonly message: string;
}

/** Returns `file:line:column: message`, which editors and terminals turn into links. */
export function formatProblem({ file, line, column, message }: Problem): string {
  const at = line === 0 ? file : column === 0 ? `${file}:${line}` : `${file}:${line}:${column}`;
  return `${at}: ${message}`;
}

/** Thrown for workflow modules that cannot be loaded into a realm. */
export class WorkflowLoadError extends Error {
  override name = "WorkflowLoadError";
  /** All problems; at least one. */
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

/** Returns a path for `file:` URLs, the name for modules of a bundle, other URLs unchanged. */
export function displayName(url: string): string {
  const bundled = /^bundle:\/\/\d*\//.exec(url);
  if (bundled !== null) return decodeURIComponent(url.slice(bundled[0].length));
  if (!url.startsWith("file:///")) return url;
  const path = decodeURIComponent(url.slice("file://".length));
  return /^\/[A-Za-z]:\//.test(path) ? path.slice(1) : path;
}
