import type { JSX } from "preact";
import type { OpenRun } from "../store/state.ts";
import { codecDialog, openCodec } from "./mod.ts";

/** Also shown for a decoded run: its dialog has the result. */
export function DecodeButton({ run }: { run: OpenRun }): JSX.Element | null {
  if (run.model.encodings.size === 0 && run.encoded === undefined) return null;
  const CodecDialog = codecDialog.value;
  return (
    <>
      <button type="button" id="decode" class="button bare" onClick={() => void openCodec()}>
        {run.encoded === undefined ? "Decode" : "Decoded"}
      </button>
      {CodecDialog !== undefined && <CodecDialog run={run} />}
    </>
  );
}
