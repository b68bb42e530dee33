export { CodePane } from "./code_pane.tsx";
