// Dragging on the timeline.
import { useRef } from "preact/hooks";

/** A press moves the position, and continues to move it until it is released. */
export function useDrag(
  moveTo: (clientX: number) => void,
): { down(event: PointerEvent): void; moved(): boolean } {
  const state = useRef({ from: 0, hasMoved: false });
  const latest = useRef(moveTo);
  latest.current = moveTo;
  return {
    moved: () => state.current.hasMoved,
    down(event) {
      if (event.button !== 0) return;
      const isThing = (event.target as Element).closest("[data-item]") !== null;
      state.current = { from: event.clientX, hasMoved: false };
      if (!isThing) latest.current(event.clientX);
      const move = ({ clientX }: PointerEvent) => {
        // A small movement during a press is a click, not a drag.
        if (!state.current.hasMoved && Math.abs(clientX - state.current.from) < 4) return;
        state.current.hasMoved = true;
        latest.current(clientX);
      };
      const up = () => {
        removeEventListener("pointermove", move);
        removeEventListener("pointerup", up);
        removeEventListener("pointercancel", up);
      };
      addEventListener("pointermove", move);
      addEventListener("pointerup", up);
      addEventListener("pointercancel", up);
    },
  };
}
