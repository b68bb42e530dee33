// Values in a report: formatted on several lines, with limits per value and per file so that
// browsers can open it.
import type { Shown, ShownFailure } from "../debug/values.ts";
import { type Html, markup, type Part } from "./html.ts";
import { count } from "../run_view/time.ts";
import { formatJson } from "../run_view/value_text.ts";

/** Maximum number of characters of one value. */
const MOST_OF_ONE = 8_000;
/** Maximum number of characters of all values of a file. */
const MOST_OF_ALL = 3_000_000;

/** The remaining number of characters for values of a file. */
export class Room {
  #left = MOST_OF_ALL;
  /** Number of values that were omitted. */
  leftOut = 0;

  /** Formats a value in a box. */
  value(value: unknown): Html {
    if (value === undefined || value === null) return markup`<p class="soft">nothing</p>`;
    return this.text(
      value instanceof Uint8Array ? `${count(value.length)} bytes` : formatJson(value),
    );
  }

  /** Puts a text in a box. */
  text(text: string): Html {
    const most = Math.min(MOST_OF_ONE, this.#left);
    if (most <= 0) {
      this.leftOut++;
      return markup`<p class="soft">left out: the file has no room for more values</p>`;
    }
    this.#left -= Math.min(most, text.length);
    const more = text.length - most;
    return markup`<pre>${text.slice(0, most)}</pre>${
      more > 0 && markup`<p class="soft">${count(more)} more characters</p>`
    }`;
  }

  shown(shown: Shown): Html {
    return "value" in shown
      ? this.value(shown.value)
      : markup`<p class="soft">cannot be read: ${shown.unreadable}</p>`;
  }

  /** Formats a failure with its causes, outermost first. */
  failure(failure: ShownFailure): Html {
    const chain: ShownFailure[] = [];
    for (
      let one: ShownFailure | undefined = failure;
      one !== undefined && chain.length < 20;
      one = one.cause
    ) chain.push(one);
    return markup`<div class="failure">${
      chain.map(({ type, message }, i): Part =>
        markup`${i > 0 && markup`<p class="soft">because of</p>`}<p><b>${
          type || "failure"
        }</b></p>${message !== "" && this.text(message)}`
      )
    }</div>`;
  }
}
