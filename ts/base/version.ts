// The package's version, as histories and services show it. tests/house holds it against
// package.json.
export const VERSION = "0.1.0";
