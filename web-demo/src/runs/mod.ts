export { Runs } from "./runs.tsx";
