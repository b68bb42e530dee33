// The history as a link: made first, its length said, then copied. Without values unless the reader wants them.
import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { linkOf, LONGEST_LINK, SAFE_LINK } from "../app/history_link.ts";
import type { OpenRun } from "../app/state.ts";
import { served } from "../served/about.ts";
import { count } from "../ui/time.ts";

/** A link that was made, and of which run. */
const made: Signal<{ readonly run: OpenRun; readonly link: string; readonly hasValues: boolean } | undefined> = signal(undefined);
const said: Signal<string> = signal("");

/** `redacted`: the history without its values; undefined where the reader is asked about texts first. */
export function LinkForm({ run, redacted, asIs }: {
  readonly run: OpenRun;
  redacted(): Promise<Uint8Array | undefined>;
  asIs(): Promise<Uint8Array>;
}): JSX.Element | null {
  useLayoutEffect(() => void (said.value = ""), [run]);
  // The page's address is good until the command ends, and a secret.
  if (served !== undefined) return null;
  const make = async (hasValues: boolean) => {
    said.value = "at work…";
    made.value = undefined;
    try {
      const history = hasValues ? await asIs() : await redacted();
      said.value = "";
      if (history === undefined) return;
      made.value = { run, hasValues, link: `${location.origin}${location.pathname}${await linkOf(history)}` };
    } catch (error) {
      said.value = `${(error as Error).message}.`;
    }
  };
  const mine = made.value?.run === run ? made.value : undefined;
  return (
    <>
      <p class="doors">
        <button type="button" class="button" id="link-redacted" onClick={() => void make(false)}>Link without values</button>
        <button type="button" class="button" id="link-as-is" onClick={() => void make(true)}>Link with its values</button>
      </p>
      <p role="status" id="link-said" class="wrap">
        {mine === undefined ? said.value : textOf(mine.link.length, mine.hasValues)}
      </p>
      {mine !== undefined && (
        <p class="doors">
          <input id="link" readOnly aria-label="Link" value={mine.link} onFocus={({ currentTarget }) => currentTarget.select()} />
          <button
            type="button"
            class="button"
            id="copy-link"
            onClick={() =>
              void navigator.clipboard.writeText(mine.link).then(() => (said.value = ""), () => {
                document.querySelector<HTMLInputElement>("#link")?.focus();
              })}
          >
            Copy
          </button>
        </p>
      )}
    </>
  );
}

function textOf(length: number, hasValues: boolean): string {
  const what = `A link of ${count(length)} characters holds the whole history, ${
    hasValues ? "with all of its values: who has the link has them" : "without its values"
  }.`;
  return length <= SAFE_LINK
    ? what
    : `${what} Many programs cut links that are longer than ${count(SAFE_LINK)}${
      length > LONGEST_LINK / 2 ? ", and some browsers, too" : ""
    }: a file is safer.`;
}
