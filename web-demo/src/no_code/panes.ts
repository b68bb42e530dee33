// The parts that are loaded with the first run without code.
export { NoCodeDetails } from "./details.tsx";
export { NoCodeMiddle } from "./middle.tsx";
