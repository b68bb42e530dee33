export { NoCodeDetails, NoCodeMiddle } from "./no_code.tsx";
