export { TimelineControls } from "./controls.tsx";
export { overlay, type OverlayBar, type OverlayLane } from "./overlays.ts";
export { Timeline } from "./timeline.tsx";
