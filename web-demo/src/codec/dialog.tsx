// The dialog of Decode: a codec endpoint, or a pasted codec. Nothing is sent and no code runs
// before the user presses the button.
import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { OpenRun } from "../store/state.ts";
import { served } from "../served/about.ts";
import { Dialog } from "../ui/dialog.tsx";
import { decodeRun } from "./decode_run.ts";
import { decodeAddress, type Endpoint, openEndpoint, relay } from "./endpoint.ts";
import { codecIsOpen } from "./mod.ts";
import { PastedCodecForm } from "./pasted_form.tsx";
import { remoteCodec } from "./remote_codec.ts";
import "../take_away/take_away.css";

/** Status text. */
const said: Signal<string> = signal("");
const isAtWork: Signal<boolean> = signal(false);

/** The codec endpoint of the command line, if set. */
const given = served?.by === "debug" ? served.codecEndpoint : undefined;

async function decodeBy(run: OpenRun, open: () => Promise<Endpoint>): Promise<void> {
  isAtWork.value = true;
  said.value = "Working…";
  let endpoint: Endpoint | undefined;
  try {
    endpoint = await open();
    const count = await decodeRun(run, remoteCodec((body) => endpoint!.send(body)));
    said.value = `${count} values decoded.`;
  } catch (error) {
    said.value = messageOf(error as Error);
  } finally {
    endpoint?.close();
    isAtWork.value = false;
  }
}

/** The codec's own error, without the wrapper that only says that a codec failed. */
const messageOf = ({ message, cause }: Error): string =>
  cause instanceof Error ? cause.message : message;

export function CodecDialog({ run }: { run: OpenRun }): JSX.Element {
  return (
    <Dialog id="codec-dialog" title="Decode values" isOpen={codecIsOpen}>
      <Encodings run={run} />
      <EndpointForm run={run} />
      <h3>Or paste a codec</h3>
      <PastedCodecForm run={run} />
    </Dialog>
  );
}

function Encodings({ run }: { run: OpenRun }): JSX.Element {
  const list = [...run.model.encodings].map(([encoding, count]) => `${count} × ${encoding}`);
  return (
    <p class="say">
      {list.length === 0
        ? "All values of this run are decoded."
        : `Encoded values: ${list.join(", ")}.`}{" "}
      Decoded values stay in this tab. Saved files contain them only if you choose so.
    </p>
  );
}

function EndpointForm({ run }: { run: OpenRun }): JSX.Element {
  const [address, setAddress] = useState("");
  const [authorization, setAuthorization] = useState("");
  return (
    <form
      class="take-away form"
      onSubmit={(event) => {
        event.preventDefault();
        const headers: { readonly [name: string]: string } = authorization === ""
          ? {}
          : { authorization };
        void decodeBy(run, () =>
          given === undefined ? open(address, headers) : Promise.resolve(relay));
      }}
    >
      {given === undefined
        ? (
          <>
            <label>
              Codec endpoint
              <input
                name="endpoint"
                value={address}
                placeholder="http://localhost:8081"
                spellcheck={false}
                autocomplete="off"
                required
                aria-describedby="codec-said"
                onInput={({ currentTarget }) => setAddress(currentTarget.value)}
              />
            </label>
            <label>
              Authorization
              <input
                name="authorization"
                value={authorization}
                placeholder="Bearer … (optional)"
                spellcheck={false}
                autocomplete="off"
                onInput={({ currentTarget }) =>
                  setAuthorization(currentTarget.value)}
              />
            </label>
          </>
        )
        : <p>Codec endpoint from the command line: {given}</p>}
      <p class="soft">
        The button sends the encoded values to this endpoint, and to no other address.
      </p>
      <p role="status" id="codec-said" class="wrap">{said.value}</p>
      <p class="button-row">
        <button type="submit" class="button main" id="decode-by-endpoint" disabled={isAtWork.value}>
          Send and decode
        </button>
      </p>
    </form>
  );
}

const open = async (
  address: string,
  headers: { readonly [name: string]: string },
): Promise<Endpoint> => await openEndpoint(decodeAddress(address), headers);
