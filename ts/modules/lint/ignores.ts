// Comments that disable rules:
//   // temporalex-ignore <rule> ...         for this line, or the next one if the comment is alone
//   // temporalex-ignore-file <rule> ...    for the whole file
// Without a rule, all rules are disabled. Text after " -- " is the reason.

const COMMENT = /(?:\/\/|\/\*)\s*temporalex-ignore(-file)?\b([^\n]*)/;

export class Ignores {
  readonly #file = new Set<string>();
  readonly #lines = new Map<number, Set<string>>();

  constructor(text: string) {
    text.split("\n").forEach((line, i) => {
      const match = COMMENT.exec(line);
      if (match === null) return;
      const rules = match[2]!.replace(/\*\/.*/, "").replace(/(?:^|\s)--.*/, "").split(/[\s,]+/)
        .filter((word) => word !== "");
      const names = rules.length === 0 ? ["*"] : rules;
      const alone = line.slice(0, match.index).trim() === "";
      const target = match[1] !== undefined ? this.#file : this.#at(alone ? i + 2 : i + 1);
      for (const name of names) target.add(name);
    });
  }

  #at(line: number): Set<string> {
    let rules = this.#lines.get(line);
    if (rules === undefined) this.#lines.set(line, rules = new Set());
    return rules;
  }

  has(rule: string, line: number): boolean {
    const here = this.#lines.get(line);
    return [this.#file, here].some((rules) =>
      rules !== undefined && (rules.has("*") || rules.has(rule))
    );
  }
}
