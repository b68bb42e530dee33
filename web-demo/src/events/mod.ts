export { Events } from "./events.tsx";
