// The colors of the debugger's page, for files without its style sheet. A test compares them with
// those of the page.

/** Colors by name for a light background. */
export const LIGHT: { readonly [name: string]: string } = {
  paper: "#f3f4f1",
  sheet: "#fff",
  sunk: "#eef0ec",
  line: "#dfe2dc",
  "line-2": "#c3c8c0",
  ink: "#14171a",
  "ink-2": "#474d55",
  pencil: "#676d75",
  "hl-band": "#fff8da",
  "hl-ink": "#5b4300",
  "hl-line": "#d9a900",
  red: "#b8221b",
  "red-bg": "#fdeeec",
  "red-line": "#eab4af",
  ok: "#0b6645",
  "ok-bg": "#e3f3ea",
  focus: "#1f5fd6",
  activity: "#1d5fc4",
  timer: "#875600",
  signal: "#0a6e50",
  update: "#a3256b",
  child: "#a5440a",
  marker: "#5d6708",
  task: "#676d75",
  "on-kind": "#fff",
};

/** Colors by name for a dark background. */
export const DARK: { readonly [name: string]: string } = {
  paper: "#0c0e11",
  sheet: "#13161a",
  sunk: "#1b1f24",
  line: "#272c32",
  "line-2": "#454c55",
  ink: "#eef0f2",
  "ink-2": "#b6bdc5",
  pencil: "#8b939d",
  "hl-band": "#272209",
  "hl-ink": "#ffe27a",
  "hl-line": "#c79a00",
  red: "#ff8d84",
  "red-bg": "#331714",
  "red-line": "#7a332d",
  ok: "#63d4a0",
  "ok-bg": "#11291d",
  focus: "#7eb0ff",
  activity: "#74abff",
  timer: "#e3ae45",
  signal: "#52d0a2",
  update: "#f486c4",
  child: "#ff9d63",
  marker: "#bcc552",
  task: "#8b939d",
  "on-kind": "#0c0e11",
};

/** Returns CSS variable declarations. */
export const declared = (colors: typeof LIGHT): string =>
  Object.entries(colors).map(([name, value]) => `--${name}:${value};`).join("");
