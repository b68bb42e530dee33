// Difference of two values, as rows of a tree. Lists are aligned from both ends, so that an
// inserted or removed entry is one row and not a change of all entries after it.

export type Change = "same" | "added" | "removed" | "changed";

export interface DiffRow {
  /**
   * Keys and indexes from the root. Indexes are those of the newer value, unless the entry was
   * removed.
   */
  readonly path: readonly (string | number)[];
  readonly key: string | number;
  readonly change: Change;
  readonly before: unknown;
  readonly after: unknown;
  /** Rows of nested changes; empty if the row shows the whole value. */
  readonly inside: readonly DiffRow[];
}

type Keyed = readonly (readonly [
  key: string | number,
  before: unknown,
  after: unknown,
  change: Change | undefined,
])[];

const isTree = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !(value instanceof Uint8Array);
const isAlike = (a: unknown, b: unknown): boolean =>
  isTree(a) && isTree(b) && Array.isArray(a) === Array.isArray(b);

/** Deep equality of plain data. */
export function isEqualData(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!isTree(a) || !isTree(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  const [x, y] = [a as { [key: string]: unknown }, b as { [key: string]: unknown }];
  return keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqualData(x[key], y[key]));
}

/** Compares the entries of two values. If `before` is undefined, all entries are "added". */
export function diffRows(
  before: unknown,
  after: unknown,
  at: readonly (string | number)[] = [],
): readonly DiffRow[] {
  return pairs(before, after).map(([key, old, now, known]): DiffRow => {
    const path = [...at, key];
    const change = known ?? (isEqualData(old, now) ? "same" : "changed");
    // A value of another shape is one change.
    const inside = change === "changed" && isAlike(old, now) ? diffRows(old, now, path) : [];
    return { path, key, change, before: old, after: now, inside };
  });
}

/** The entries of one value, all "same". */
export const plainRows = (value: unknown): readonly DiffRow[] =>
  isTree(value) ? diffRows(value, value) : [];

function pairs(before: unknown, after: unknown): Keyed {
  if (Array.isArray(after)) return listPairs(Array.isArray(before) ? before : [], after);
  if (Array.isArray(before) || !isTree(after)) return [];
  const [old, now] = [
    (isTree(before) ? before : {}) as { [key: string]: unknown },
    after as { [key: string]: unknown },
  ];
  return [
    ...Object.keys(now).map((key) =>
      Object.hasOwn(old, key)
        ? [key, old[key], now[key], undefined] as const
        : [key, undefined, now[key], "added"] as const
    ),
    ...Object.keys(old).filter((key) => !Object.hasOwn(now, key)).map((key) =>
      [key, old[key], undefined, "removed"] as const
    ),
  ];
}

function listPairs(old: readonly unknown[], now: readonly unknown[]): Keyed {
  let head = 0;
  while (head < old.length && head < now.length && isEqualData(old[head], now[head])) head++;
  let tail = 0;
  while (
    tail < old.length - head && tail < now.length - head &&
    isEqualData(old.at(-1 - tail), now.at(-1 - tail))
  ) tail++;
  const [gone, come] = [old.slice(head, old.length - tail), now.slice(head, now.length - tail)];
  const middle = Math.max(gone.length, come.length);
  return [
    ...now.slice(0, head).map((value, i) => [i, value, value, "same"] as const),
    ...Array.from(
      { length: middle },
      (_, i) =>
        i >= gone.length
          ? [head + i, undefined, come[i], "added"] as const
          : i >= come.length
          ? [head + i, gone[i], undefined, "removed"] as const
          : [head + i, gone[i], come[i], "changed"] as const,
    ),
    ...now.slice(now.length - tail).map((value, i) =>
      [now.length - tail + i, value, value, "same"] as const
    ),
  ];
}

/** A row to draw: a row of the diff, or the number of unchanged rows that are folded. */
export type ShownRow =
  | { readonly depth: number; readonly row: DiffRow }
  | { readonly depth: number; readonly folded: number };

/**
 * All rows with a change, and unchanged rows as far as there is room. `most`: approximate number of
 * rows.
 */
export function shownRows(rows: readonly DiffRow[], most = 24, depth = 0): readonly ShownRow[] {
  const changed = rows.filter(({ change }) => change !== "same").length;
  let spare = Math.max(4, most - changed);
  const shown: ShownRow[] = [];
  let folded = 0;
  const fold = () => {
    if (folded > 0) shown.push({ depth, folded });
    folded = 0;
  };
  for (const row of rows) {
    if (row.change === "same" ? spare-- <= 0 : shown.length >= 4 * most) {
      folded++;
      continue;
    }
    fold();
    shown.push({ depth, row });
    if (row.inside.length > 0) {
      shown.push(...shownRows(row.inside, Math.max(6, most - shown.length), depth + 1));
    }
  }
  fold();
  return shown;
}
