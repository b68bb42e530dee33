// Names of protobuf enum values. The generated enums map names to numbers only.

/** Returns the name of an enum value; undefined for 0 (unspecified) and for unknown numbers. */
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
