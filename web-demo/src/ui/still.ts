// A component that is drawn again only if its properties have changed. A step changes few of many
// bars, rows and lines; for the others it costs a comparison. Signals that the component reads
// still cause a new drawing.
import { Component, type FunctionComponent, h, type JSX } from "preact";

type Same<P> = (before: P, now: P) => boolean;

/** Whether two objects have the same entries. */
export function isShallowSame<P extends object>(before: P, now: P): boolean {
  for (const key in now) if (!Object.is(before[key], now[key])) return false;
  for (const key in before) if (!(key in now)) return false;
  return true;
}

/**
 * `isSame`: by default all properties must be identical. Functions must be the same at each time,
 * or ignored by `isSame`.
 */
export function still<P extends object>(
  draw: FunctionComponent<P>,
  isSame: Same<P> = isShallowSame,
) {
  return class extends Component<P> {
    override shouldComponentUpdate(now: Readonly<P>): boolean {
      return !isSame(this.props, now);
    }
    override render(): JSX.Element {
      return h(draw, this.props);
    }
  };
}
