// Styles of the classes of a drawing: as CSS rules for a report, as attributes for a standalone
// file.

/** SVG properties by class, in increasing precedence. `$name` is a color of the page. */
const LOOKS: { readonly [name: string]: { readonly [property: string]: string } } = {
  tick: { "font-size": "10.5px", fill: "$pencil" },
  cut: { "font-style": "italic" },
  hair: { stroke: "$line", fill: "none" },
  gap: { fill: "$sunk" },
  tear: { fill: "$sheet", stroke: "$line-2" },
  head: { fill: "$ink-2", "font-size": "12px" },
  name: { fill: "$ink" },
  on: { fill: "$on-kind" },
  ink: { fill: "currentColor" },
  halo: {
    fill: "$ink",
    stroke: "$sheet",
    "stroke-width": "3",
    "stroke-linejoin": "round",
    "paint-order": "stroke",
  },
  pale: { "fill-opacity": ".16", stroke: "currentColor" },
  wait: { fill: "currentColor", "fill-opacity": ".14" },
  try: { fill: "currentColor", "fill-opacity": ".5", stroke: "currentColor" },
  open: {
    fill: "currentColor",
    "fill-opacity": ".12",
    stroke: "currentColor",
    "stroke-dasharray": "3 2.5",
  },
  notch: { fill: "$ink-2" },
  bad: { fill: "$red" },
  waits: { fill: "$hl-line", "fill-opacity": ".35" },
  until: { stroke: "$ink-2", "stroke-dasharray": "2 3", fill: "none" },
  pin: { stroke: "$red", "stroke-width": "1.5" },
};

/** Returns CSS rules for drawings inside elements of the class `within`. */
export const looksAsRules = (within: string): string =>
  Object.entries(LOOKS).map(([name, look]) =>
    `.${within} .${name}{${
      Object.entries(look).map(([property, value]) =>
        `${property}:${value.replace(/^\$(.*)/, "var(--$1)")}`
      ).join(";")
    }}\n`
  ).join("");

/**
 * Replaces the classes in markup by attributes. Texts in the markup are escaped, so every quote
 * belongs to an attribute.
 */
export const looksAsAttributes = (
  markup: string,
  colors: { readonly [name: string]: string },
): string =>
  markup.replace(/ class="([^"]*)"/g, (_, names: string) => {
    const has = names.split(" ");
    const kind = has.find((name) => name.startsWith("k-"));
    const all = Object.assign(
      kind === undefined ? {} : { color: `$${kind.slice(2)}` },
      ...Object.entries(LOOKS).filter(([name]) => has.includes(name)).map(([, look]) => look),
    ) as { readonly [property: string]: string };
    return Object.entries(all)
      .map(([property, value]) =>
        ` ${property}="${value.replace(/^\$(.*)/, (_, name) => colors[name] ?? colors["ink"]!)}"`
      )
      .join("");
  });
