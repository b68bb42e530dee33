// Looks around while it is loaded, as packages do.
const verbose = typeof process !== "undefined" && process.env?.A_PACKAGE_VERBOSE === "1";
const colors = typeof process !== "undefined" && process.stdout?.isTTY === true;

export function label(text) {
  return verbose || colors ? `(${text})` : `is ${text}`;
}
