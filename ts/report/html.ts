// Escapes text for HTML in one place. Histories can contain hostile text: templates escape all
// values, and only the output of templates is inserted as markup.

/** Markup that a template created. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value in a template. `false` and `undefined` are omitted. */
export type Part = Html | string | number | false | undefined | readonly Part[];

/**
 * Creates markup with escaped values. The name is not `html`, because formatters change whitespace
 * in templates of that name.
 */
export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0]!;
  parts.forEach((part, i) => text += textOf(part) + strings[i + 1]!);
  return new Html(text);
}

function textOf(part: Part): string {
  if (part === undefined || part === false) return "";
  if (part instanceof Html) return part.text;
  return typeof part === "object" ? part.map(textOf).join("") : escaped(String(part));
}

const ENTITIES: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

/**
 * Control characters but tab and line feed; what turns the direction of the text behind it; what a
 * browser reads as a line's end.
 */
const UNSEEN =
  // deno-lint-ignore no-control-regex
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/g;

/** Escapes text, also for quoted attributes. Invisible characters are written as escapes. */
export function escaped(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/\p{Surrogate}/gu, "\ufffd")
    .replace(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .replace(/[&<>"'`]/g, (character) => ENTITIES[character]!);
}

/** Returns an element, with attributes from data. */
export function element(
  tag: string,
  attributes: { readonly [name: string]: string | number },
  inner?: Part,
): Html {
  const list = Object.entries(attributes).map(([name, value]) =>
    ` ${name}="${escaped(String(value))}"`
  ).join("");
  return new Html(
    inner === undefined ? `<${tag}${list}/>` : `<${tag}${list}>${textOf(inner)}</${tag}>`,
  );
}
