// Names of protobuf enum values. The generated enums are plain tables from name to number, with no way back.

/** The name of an enum's value; undefined for 0 (unspecified) and for a number that this version does not know. */
export function enumName<N extends string>(
  table: { readonly [name in N]: number },
  value: number,
): Exclude<N, "UNSPECIFIED"> | undefined {
  if (value === 0) return undefined;
  for (const name in table) {
    if (table[name as N] === value) return name as N as Exclude<N, "UNSPECIFIED">;
  }
  return undefined;
}
