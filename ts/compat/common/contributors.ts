// Fields of log lines or tags of metrics, composed of several parts; functions are called on use.

/** Fields, or a function that returns them. */
export type Contributor<T extends object> = T | (() => T);

/** Appends a part to the chain; undefined for an empty part. Merges consecutive fields. */
export function appended<T extends object>(
  chain: readonly Contributor<T>[] | undefined,
  part: Contributor<T>,
): readonly Contributor<T>[] | undefined {
  if (typeof part === "object" && Object.keys(part).length === 0) return chain;
  const last = chain?.at(-1);
  if (typeof last === "object" && typeof part === "object") {
    return [...chain!.slice(0, -1), { ...last, ...part }];
  }
  return [...chain ?? [], part];
}

/** Returns all fields without null and undefined; later ones override earlier ones. */
export function mergeContributions<T extends object>(
  chain: readonly Contributor<T>[],
  more: T | undefined,
): T {
  const all = Object.assign(
    {},
    ...chain.map((part) => typeof part === "function" ? part() : part),
    more,
  ) as T;
  for (const [key, value] of Object.entries(all)) {
    if (value === undefined || value === null) delete (all as { [key: string]: unknown })[key];
  }
  return all;
}
