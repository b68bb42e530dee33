// Creates DOM elements without a framework, for the shop.

type Child = Node | string | number | undefined | false;
type Props = { readonly [name: string]: string | number | boolean | undefined | EventListener };

/**
 * Creates an element. `onClick` and similar names add listeners; `true` is an empty attribute;
 * `undefined` and `false` add none.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2).toLowerCase(), value);
    else {element.setAttribute(
        name === "className" ? "class" : name,
        value === true ? "" : String(value),
      );}
  }
  element.append(
    ...children.filter((child) => child !== undefined && child !== false).map((c) =>
      c instanceof Node ? c : String(c)
    ),
  );
  return element;
}

export const byId = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

/** A value as JSON, with colors. */
export function json(value: unknown): HTMLElement {
  const pre = h("pre", { className: "json", tabindex: 0 });
  const text = show(value);
  const token =
    /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g;
  let at = 0;
  for (const m of text.matchAll(token)) {
    pre.append(text.slice(at, m.index));
    const kind = m[1] === undefined
      ? (m[3] === undefined ? "n" : "b")
      : m[2] === undefined
      ? "s"
      : "k";
    pre.append(h("span", { className: kind }, m[1] ?? m[0]), m[2] ?? "");
    at = m.index + m[0].length;
  }
  pre.append(text.slice(at));
  return pre;
}

/** A value on part of a line. */
export function brief(value: unknown): string {
  try {
    const text = JSON.stringify(value) ?? "nothing";
    return text.length > 300 ? `${text.slice(0, 299)}…` : text;
  } catch {
    return "…";
  }
}

const LONGEST = 20_000;

function show(value: unknown): string {
  if (value === undefined) return "nothing";
  let text: string;
  try {
    text = value instanceof Uint8Array
      ? `${value.length} bytes`
      : JSON.stringify(value, undefined, 2) ?? String(value);
  } catch {
    return "nested too deeply to be shown";
  }
  return text.length <= LONGEST
    ? text
    : `${text.slice(0, LONGEST)}\n… (${text.length - LONGEST} more characters)`;
}

/** "14:03:22.120", with the date in the title. */
export const time = (ms: number): HTMLElement =>
  h(
    "time",
    { datetime: new Date(ms).toISOString(), title: new Date(ms).toISOString() },
    formatTime(ms),
  );

export const formatTime = (ms: number): string =>
  new Date(ms).toLocaleTimeString("en-GB", { hour12: false }) +
  `.${String(Math.floor(ms) % 1000).padStart(3, "0")}`;
