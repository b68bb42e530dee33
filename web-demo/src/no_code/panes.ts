// The parts that are loaded with the first run without code.
export { NoCodeDetailsPane } from "./details.tsx";
export { NoCodeMiddlePane } from "./middle.tsx";
