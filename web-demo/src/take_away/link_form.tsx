// The history as a link. The length is shown before the link is copied.
import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { LONGEST_LINK, packHistoryLink, SAFE_LINK } from "../open/history_link.ts";
import { type OpenRun, position } from "../store/state.ts";
import { served } from "../served/about.ts";
import { count } from "../ui/time.ts";

/** The last link, and its run. */
const made: Signal<
  { readonly run: OpenRun; readonly link: string; readonly hasValues: boolean } | undefined
> = signal(undefined);
const said: Signal<string> = signal("");
/** Whether links contain the code, which is left out unless the user asks for it. */
const hasCode: Signal<boolean> = signal(false);

/**
 * `redacted`: the history without its values; resolves with undefined if the user must first agree
 * to keep texts.
 */
export function LinkForm({ run, redacted, asIs }: {
  readonly run: OpenRun;
  redacted(): Promise<Uint8Array | undefined>;
  asIs(): Promise<Uint8Array>;
}): JSX.Element | null {
  useLayoutEffect(() => void (said.value = ""), [run]);
  // A served page has an address with a secret token, valid until the command ends: useless and
  // unsafe in a link.
  if (served !== undefined) return null;
  const make = async (hasValues: boolean) => {
    said.value = "Working…";
    made.value = undefined;
    try {
      const history = hasValues ? await asIs() : await redacted();
      said.value = "";
      if (history === undefined) return;
      made.value = {
        run,
        hasValues,
        link: `${location.origin}${location.pathname}${await packHistoryLink({
          history,
          at: position.peek(),
          code: hasCode.peek() ? run.code.peek() : undefined,
        })}`,
      };
    } catch (error) {
      said.value = `${(error as Error).message}.`;
    }
  };
  const mine = made.value?.run === run ? made.value : undefined;
  return (
    <section aria-label="Link">
      <h3>Link, which opens at event {count(position.value)}</h3>
      {run.code.value !== undefined && (
        <label class="check">
          <input
            type="checkbox"
            id="link-code"
            checked={hasCode.value}
            onChange={({ currentTarget }) => {
              hasCode.value = currentTarget.checked;
              made.value = undefined;
            }}
          />
          Include the code in the link
        </label>
      )}
      <p class="button-row">
        <button type="button" class="button" id="link-redacted" onClick={() => void make(false)}>
          Link without values
        </button>
        <button type="button" class="button" id="link-as-is" onClick={() => void make(true)}>
          Link with values
        </button>
      </p>
      <p role="status" id="link-said" class="wrap">
        {mine === undefined ? said.value : textOf(mine.link.length, mine.hasValues)}
      </p>
      {mine !== undefined && (
        <p class="button-row">
          <input
            id="link"
            readOnly
            aria-label="Link"
            value={mine.link}
            onFocus={({ currentTarget }) => currentTarget.select()}
          />
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
    </section>
  );
}

function textOf(length: number, hasValues: boolean): string {
  const what = hasValues
    ? `The link (${
      count(length)
    } characters) contains the whole history with all values. Anyone with the link can read them.`
    : `The link (${count(length)} characters) contains the whole history without its values.`;
  return length <= SAFE_LINK
    ? what
    : `${what} Many programs${
      length > LONGEST_LINK / 2 ? " and some browsers" : ""
    } cut links longer than ${count(SAFE_LINK)} characters. A file is safer.`;
}
