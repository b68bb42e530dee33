// Workflow ids that definitions derive from the arguments of a start.

/** The used part of a definition, from any copy of the package. */
interface Deriving {
  readonly name?: unknown;
  readonly kind?: unknown;
  readonly id?: unknown;
}

/**
 * Returns the workflow id that a definition derives from arguments; undefined without such a
 * function, and for a name. Throws a TypeError for a result that is not an id.
 */
export function deriveId(workflow: unknown, args: readonly unknown[]): string | undefined {
  if (typeof workflow !== "function") return undefined;
  const { kind, id: derive, name } = workflow as Deriving;
  if (kind !== "workflow" || typeof derive !== "function") return undefined;
  const id: unknown = derive(...args);
  if (typeof id === "string" && id !== "") return id;
  throw new TypeError(
    `id of workflow "${String(name)}" must return a non-empty string, not ${
      id === "" ? "an empty one" : id === null ? "null" : typeof id
    }`,
  );
}
