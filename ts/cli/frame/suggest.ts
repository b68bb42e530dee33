// "Did you mean ...?": the known name that is nearest to a mistyped one.

/** How many letters must be added, removed, changed or swapped with their neighbour to make one text of the other. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      row[j] = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j]!, before[j - 2]! + 1);
    }
    before = previous;
    previous = row;
  }
  return previous[b.length]!;
}

/** The nearest name, or undefined where none is near. A name that begins with the text is near, and one whose last words it has. */
export function nearest(text: string, names: readonly string[]): string | undefined {
  const wanted = text.toLowerCase();
  const words = wanted.replace(/^-+/, "");
  const far = (name: string) => {
    if (wanted.length > 1 && name.startsWith(wanted)) return 0.5;
    return words.length > 2 && name.endsWith(`-${words}`) && name !== wanted ? 0.75 : distance(wanted, name);
  };
  const near = names
    .map((name) => ({ name, far: far(name.toLowerCase()) }))
    .filter(({ name, far }) => far <= Math.max(1, Math.floor(Math.min(name.length, wanted.length) / 3)))
    .sort((a, b) => a.far - b.far);
  return near[0]?.name;
}

/** " Did you mean X?", or nothing. */
export function didYouMean(text: string, names: readonly string[]): string {
  const name = nearest(text, names);
  return name === undefined ? "" : `. Did you mean ${name}?`;
}
