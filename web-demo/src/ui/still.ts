// A part that is drawn again only when what it is given has changed. A step changes a few things of many: bars, rows and lines that look as
// before cost a comparison then. A signal that such a part reads still draws it again by itself.
import { Component, type FunctionComponent, h, type JSX } from "preact";

type Same<P> = (before: P, now: P) => boolean;

/** Whether two objects have the same entries. */
export function isShallowSame<P extends object>(before: P, now: P): boolean {
  for (const key in now) if (!Object.is(before[key], now[key])) return false;
  for (const key in before) if (!(key in now)) return false;
  return true;
}

/** `isSame`: default is that all properties are identical. Functions among them are to be the same ones each time, or left out of it. */
export function still<P extends object>(draw: FunctionComponent<P>, isSame: Same<P> = isShallowSame) {
  return class extends Component<P> {
    override shouldComponentUpdate(now: Readonly<P>): boolean {
      return !isSame(this.props, now);
    }
    override render(): JSX.Element {
      return h(draw, this.props);
    }
  };
}
