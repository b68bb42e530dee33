export { openServed } from "./open_served.ts";
export { served } from "./about.ts";
