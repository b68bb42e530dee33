// Finds the known name that a mistyped name most likely means: for options, commands and flags.

/** Number of edits (insert, remove, change, swap neighbors) that turn one text into the other. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      row[j] = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        row[j] = Math.min(row[j]!, before[j - 2]! + 1);
      }
    }
    before = previous;
    previous = row;
  }
  return previous[b.length]!;
}

const splitWords = (name: string): string[] =>
  name.split(/(?=[A-Z])|[_-]/).map((word) => word.toLowerCase());

/** True for names whose words abbreviate each other: maxAttempts, maximumAttempts. */
function hasSameWords(a: string, b: string): boolean {
  const [first, second] = [splitWords(a), splitWords(b)];
  return first.length === second.length && first.every((word, i) => {
    const other = second[i]!;
    return word === other ||
      (Math.min(word.length, other.length) > 2 &&
        (word.startsWith(other) || other.startsWith(word)));
  });
}

/**
 * Returns the nearest of `names`, or undefined where none is near. A name that begins with the text
 * is near, one that ends with its words and one whose words it abbreviates.
 */
export function nearestName(text: string, names: readonly string[]): string | undefined {
  const wanted = text.toLowerCase();
  const words = wanted.replace(/^-+/, "");
  const distanceTo = (name: string) => {
    const known = name.toLowerCase();
    if (wanted.length > 1 && known.startsWith(wanted)) return 0.5;
    if (words.length > 2 && known.endsWith(`-${words}`) && known !== wanted) return 0.75;
    return hasSameWords(text, name) ? 0.8 : editDistance(wanted, known);
  };
  const near = names
    .map((name) => ({ name, distance: distanceTo(name) }))
    .filter(({ name, distance }) =>
      distance <= Math.max(1, Math.floor(Math.min(name.length, wanted.length) / 3))
    )
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.name;
}
