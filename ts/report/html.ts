// Text becomes HTML in one place. All that a history holds may be hostile: values go into a template as text, are escaped there, and only what
// a template made is taken as markup.

/** Markup that a template made. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a template. `false` and `undefined` are nothing. */
export type Part = Html | string | number | false | undefined | readonly Part[];

/** Markup with values in it. It is not called `html`: formatters change the blanks in templates of that name, and blanks count. */
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

/** Control characters but tab and line feed; what turns the direction of the text behind it; what a browser reads as a line's end. */
// deno-lint-ignore no-control-regex
const UNSEEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/g;

/** A text from elsewhere: in quotes of attributes, too, it stays a text. What cannot be seen is written out. */
export function escaped(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/\p{Surrogate}/gu, "\ufffd")
    .replace(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .replace(/[&<>"'`]/g, (character) => ENTITIES[character]!);
}

/** An element without content, or with one, its attributes as data. */
export function element(tag: string, attributes: { readonly [name: string]: string | number }, inner?: Part): Html {
  const list = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(String(value))}"`).join("");
  return new Html(inner === undefined ? `<${tag}${list}/>` : `<${tag}${list}>${textOf(inner)}</${tag}>`);
}
