// Values in a report: on many lines, cut where they are long, and no more of them in one file than a browser opens at once.
import type { Shown, ShownFailure } from "../debug/values.ts";
import { type Html, markup, type Part } from "./html.ts";
import { count } from "../run_view/time.ts";
import { formatJson } from "../run_view/value_text.ts";

/** Characters of one value. */
const MOST_OF_ONE = 8_000;
/** Characters of all values of a file. */
const MOST_OF_ALL = 3_000_000;

/** What of a file is left for values. */
export class Room {
  #left = MOST_OF_ALL;
  /** Values that found no room. */
  leftOut = 0;

  /** A value as text in its own box. */
  value(value: unknown): Html {
    if (value === undefined || value === null) return markup`<p class="soft">nothing</p>`;
    return this.text(value instanceof Uint8Array ? `${count(value.length)} bytes` : formatJson(value));
  }

  /** A text in its own box. */
  text(text: string): Html {
    const most = Math.min(MOST_OF_ONE, this.#left);
    if (most <= 0) {
      this.leftOut++;
      return markup`<p class="soft">left out: the file has no room for more values</p>`;
    }
    this.#left -= Math.min(most, text.length);
    const more = text.length - most;
    return markup`<pre>${text.slice(0, most)}</pre>${more > 0 && markup`<p class="soft">${count(more)} more characters</p>`}`;
  }

  shown(shown: Shown): Html {
    return "value" in shown ? this.value(shown.value) : markup`<p class="soft">cannot be read: ${shown.unreadable}</p>`;
  }

  /** A failure with what led to it, outermost first. */
  failure(failure: ShownFailure): Html {
    const chain: ShownFailure[] = [];
    for (let one: ShownFailure | undefined = failure; one !== undefined && chain.length < 20; one = one.cause) chain.push(one);
    return markup`<div class="failure">${
      chain.map(({ type, message }, i): Part =>
        markup`${i > 0 && markup`<p class="soft">because of</p>`}<p><b>${type || "failure"}</b></p>${
          message !== "" && this.text(message)
        }`
      )
    }</div>`;
  }
}
