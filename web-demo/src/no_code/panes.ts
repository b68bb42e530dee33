// What is loaded with the first run that has no code.
export { NoCodeDetails } from "./details.tsx";
export { NoCodeMiddle } from "./middle.tsx";
