// Forms for signals, updates and queries: those that the workflow declares
// (`__temporal_workflow_metadata`), or others by name.
import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { formatJson } from "../../../ts/run_view/value_text.ts";
import { Glyph } from "../ui/glyph.tsx";
import { client, isServerGone } from "./state.ts";
import type { Watched } from "./watched_run.ts";

type Kind = "signal" | "update" | "query";
interface Message {
  readonly kind: Kind;
  readonly name: string;
  readonly description?: string;
}
interface Definition {
  readonly name: string;
  readonly description?: string;
}
interface Metadata {
  readonly definition?: {
    readonly signalDefinitions?: readonly Definition[];
    readonly updateDefinitions?: readonly Definition[];
    readonly queryDefinitions?: readonly Definition[];
  };
}

const METADATA_MS = 10_000;
const SEND_MS = 60_000;
const AGAIN_MS = 5000;
const KINDS: readonly Kind[] = ["update", "signal", "query"];

async function messagesOf({ workflowId, runId }: Watched): Promise<readonly Message[]> {
  const handle = client!.getHandle(undefined as string | undefined, workflowId, runId).with({
    timeout: METADATA_MS,
  });
  const { definition = {} } = await handle.query<Metadata>("__temporal_workflow_metadata");
  const of = (kind: Kind, list: readonly Definition[] = []): Message[] =>
    list.filter(({ name }) => name !== "" && !name.startsWith("__")).map((each) => ({
      ...each,
      kind,
    }));
  return [
    ...of("update", definition.updateDefinitions),
    ...of("signal", definition.signalDefinitions),
    ...of("query", definition.queryDefinitions),
  ];
}

/**
 * Parses the arguments: one JSON value per line, or nothing. Throws an Error that names the line.
 */
export function parseArguments(text: string): unknown[] {
  const whole = text.trim();
  if (whole === "") return [];
  try {
    return [JSON.parse(whole)];
  } catch {
    return whole.split("\n").filter((line) => line.trim() !== "").map((line, i) => {
      try {
        return JSON.parse(line) as unknown;
      } catch (error) {
        throw new Error(
          `argument ${i + 1} is not JSON (${
            (error as Error).message
          }); quote string values: "PEN-2"`,
        );
      }
    });
  }
}

async function send(
  { workflowId, runId }: Watched,
  { kind, name }: Message,
  args: unknown[],
): Promise<string> {
  const handle = client!.getHandle(undefined as string | undefined, workflowId, runId).with({
    timeout: SEND_MS,
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
      void messagesOf(run).then((list) => {
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
  const busy = useSignal(false);
  const kinds = KINDS.filter((kind) => kind === "query" || (open && !readOnly));
  const shown = (known.value ?? []).filter(({ kind }) => kinds.includes(kind));
  const message = chosen.value;
  const submit = async (event: Event) => {
    event.preventDefault();
    if (message === undefined || message.name === "" || busy.value) return;
    busy.value = true;
    said.value = undefined;
    try {
      said.value = { text: await send(run, message, parseArguments(text.value)), isFailure: false };
    } catch (error) {
      const { cause, message: told } = error as Error;
      said.value = {
        text: cause instanceof Error ? `${told}: ${cause.message}` : told,
        isFailure: true,
      };
    } finally {
      busy.value = false;
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
            disabled={busy.value || isServerGone.value || message.name === ""}
          >
            {message.kind === "query" ? "Query" : "Send"} {message.name}
          </button>
        </form>
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
