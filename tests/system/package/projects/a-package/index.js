// Looks around while it is loaded, as packages do.
const verbose = typeof process !== "undefined" && process.env?.A_PACKAGE_VERBOSE === "1";
const colours = typeof process !== "undefined" && process.stdout?.isTTY === true;

export function label(text) {
  return verbose || colours ? `(${text})` : `is ${text}`;
}
