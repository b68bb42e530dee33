// What is said with every log line or measurement: parts that were put on one after the other, some of them made when they are asked for.

/** Fields, or a function that makes them. */
export type Contributor<T extends object> = T | (() => T);

/** The chain with one more part; undefined where the part says nothing. Fields that follow fields are joined with them. */
export function appended<T extends object>(
  chain: readonly Contributor<T>[] | undefined,
  part: Contributor<T>,
): readonly Contributor<T>[] | undefined {
  if (typeof part === "object" && Object.keys(part).length === 0) return chain;
  const last = chain?.at(-1);
  if (typeof last === "object" && typeof part === "object") return [...chain!.slice(0, -1), { ...last, ...part }];
  return [...chain ?? [], part];
}

/** All fields, later ones over earlier ones, without those that are null or undefined. */
export function resolved<T extends object>(chain: readonly Contributor<T>[], more: T | undefined): T {
  const all = Object.assign({}, ...chain.map((part) => typeof part === "function" ? part() : part), more) as T;
  for (const [key, value] of Object.entries(all)) {
    if (value === undefined || value === null) delete (all as { [key: string]: unknown })[key];
  }
  return all;
}
