// Forms for signals, updates and queries: those that the workflow declares
// (`__temporal_workflow_metadata`), or others by name.
import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { formatJson } from "../../../ts/run_view/value_text.ts";
import { Glyph } from "../ui/glyph.tsx";
import { parseArguments } from "./arguments.ts";
import { type DeclaredMessage, declaredMessages, type MessageKind } from "./declared_messages.ts";
import { lasting } from "../ui/time.ts";
import { client, isServerGone, nowMs } from "./state.ts";
import type { Watched } from "./watched_run.ts";

type Kind = MessageKind;
type Message = DeclaredMessage;

/** A call without a result after this time stays in flight; only the page stops waiting. */
const SEND_MS = 10 * 60_000;
const AGAIN_MS = 5000;
const KINDS: readonly Kind[] = ["update", "signal", "query"];

async function send(
  { workflowId, runId }: Watched,
  { kind, name }: Message,
  args: unknown[],
  signal: AbortSignal,
): Promise<string> {
  const handle = client!.getHandle(undefined as string | undefined, workflowId, runId).with({
    timeout: SEND_MS,
    signal,
  });
  if (kind === "signal") {
    await handle.signal(name, ...args);
    return "Sent. The signal is in the history.";
  }
  const value = kind === "query"
    ? await handle.query(name, ...args)
    : await handle.executeUpdate(name, { args });
  return value === undefined ? "Completed without a result." : formatJson(value);
}

const STOPPED: Said = {
  text: "The page does not wait any longer. The message may still be processed.",
  isFailure: false,
};

interface Said {
  readonly text: string;
  readonly isFailure: boolean;
}

/**
 * The messages that the workflow declares, and the last error. Asks again until it succeeds,
 * because a worker can start later.
 */
function useMessages(
  run: Watched,
): { known: Signal<readonly Message[] | undefined>; trouble: Signal<string | undefined> } {
  const known = useSignal<readonly Message[] | undefined>(undefined);
  const trouble = useSignal<string | undefined>(undefined);
  useSignalEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = () =>
      void declaredMessages(run).then((list) => {
        known.value = list;
        trouble.value = undefined;
      }, (error: Error) => {
        if (isOver) return;
        known.value ??= [];
        trouble.value = error.message;
        timer = setTimeout(ask, AGAIN_MS);
      });
    ask();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  });
  return { known, trouble };
}

/** `open`: whether the run accepts signals and updates. A closed run accepts only queries. */
export function MessagesForm(
  { run, open, readOnly }: { run: Watched; open: boolean; readOnly: boolean },
): JSX.Element {
  const { known, trouble } = useMessages(run);
  const chosen: Signal<Message | undefined> = useSignal<Message | undefined>(undefined);
  const text = useSignal("");
  const said = useSignal<Said | undefined>(undefined);
  /** Start of the call that is in flight, in ms. */
  const sentMs = useSignal<number | undefined>(undefined);
  const stopping = useSignal(new AbortController());
  const kinds = KINDS.filter((kind) => kind === "query" || (open && !readOnly));
  const shown = (known.value ?? []).filter(({ kind }) => kinds.includes(kind));
  const message = chosen.value;
  const submit = async (event: Event) => {
    event.preventDefault();
    if (message === undefined || message.name === "" || sentMs.value !== undefined) {
      return;
    }
    sentMs.value = Date.now();
    said.value = undefined;
    const { signal } = stopping.value = new AbortController();
    try {
      const result = await send(run, message, parseArguments(text.value), signal);
      said.value = { text: result, isFailure: false };
    } catch (error) {
      const { cause, message: told } = error as Error;
      said.value = signal.aborted ? STOPPED : {
        text: cause instanceof Error ? `${told}: ${cause.message}` : told,
        isFailure: true,
      };
    } finally {
      sentMs.value = undefined;
    }
  };
  const isOther = message !== undefined && !shown.includes(message);
  return (
    <section class="section send">
      <h3>{open && !readOnly ? "Messages" : "Queries"}</h3>
      <div class="send-chips" role="group" aria-label="Messages of this workflow">
        {shown.map((each) => (
          <button
            type="button"
            key={`${each.kind} ${each.name}`}
            class="button small"
            aria-pressed={message === each}
            title={each.description ?? `${each.kind} ${each.name}`}
            onClick={() => {
              // Arguments of another message do not fit this one.
              if (chosen.value !== each) text.value = "";
              chosen.value = each;
              said.value = undefined;
            }}
          >
            <Glyph kind={each.kind} />
            <span class="mono">{each.name}</span>
          </button>
        ))}
        <button
          type="button"
          class="button small bare"
          aria-pressed={isOther}
          onClick={() => (chosen.value = { kind: kinds[0]!, name: "" })}
        >
          By name…
        </button>
      </div>
      {known.value === undefined && <p class="soft">Loading the messages of the workflow…</p>}
      {trouble.value !== undefined && (
        <p class="soft">The messages of the workflow are unknown: {trouble.value}</p>
      )}
      {message !== undefined && (
        <form onSubmit={(event) => void submit(event)}>
          {isOther && (
            <ByName message={message} kinds={kinds} change={(next) => (chosen.value = next)} />
          )}
          {message.description !== undefined && <p class="soft">{message.description}</p>}
          <label>
            Arguments <span class="soft">one JSON value per line</span>
            <textarea
              class="mono"
              rows={3}
              spellcheck={false}
              value={text.value}
              onInput={(event) => (text.value = event.currentTarget.value)}
            />
          </label>
          <button
            type="submit"
            class="button main"
            disabled={sentMs.value !== undefined || isServerGone.value || message.name === ""}
          >
            {message.kind === "query" ? "Query" : "Send"} {message.name}
          </button>
        </form>
      )}
      {sentMs.value !== undefined && (
        <p class="soft send-waits" role="status">
          {`Waiting for the result, ${
            lasting(Math.max(0, Math.floor((nowMs.value - sentMs.value) / 1000) * 1000))
          }`}
          <button type="button" class="button small" onClick={() => stopping.value.abort()}>
            Stop waiting
          </button>
        </p>
      )}
      {said.value !== undefined && (
        <pre
          class={said.value.isFailure ? "well said bad" : "well said"}
          role="status"
        >{said.value.text}</pre>
      )}
    </section>
  );
}

interface ByNameProps {
  readonly message: Message;
  readonly kinds: readonly Kind[];
  change(message: Message): void;
}

/** Kind and name of a message that the workflow does not declare. */
const ByName = ({ message, kinds, change }: ByNameProps): JSX.Element => (
  <div class="send-name">
    <select
      aria-label="Kind of message"
      value={message.kind}
      onChange={(event) => change({ ...message, kind: event.currentTarget.value as Kind })}
    >
      {kinds.map((kind) => <option key={kind} value={kind}>{kind}</option>)}
    </select>
    <input
      aria-label="Name"
      class="mono"
      value={message.name}
      onInput={(event) => change({ ...message, name: event.currentTarget.value })}
    />
  </div>
);
