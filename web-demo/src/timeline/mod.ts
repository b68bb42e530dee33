export { TimelineControls } from "./controls.tsx";
export { Timeline } from "./timeline.tsx";
