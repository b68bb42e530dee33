export { Strip } from "./strip.tsx";
export { Transport } from "./transport.tsx";
