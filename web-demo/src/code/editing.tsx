// Editing the open file. The editor is loaded when it is asked for; until then the text is where it was.
import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { notify } from "../app/notices.ts";
import type { OpenRun } from "../app/state.ts";
import { editFile } from "./edits.ts";
import type { EditorHandle } from "./editor.ts";

export const editing: Signal<boolean> = signal(false);

/** A key after a pause is handed on at once; of keys that come one after the other the last one, so long after it. Milliseconds. */
const PAUSE_MS = 300, REST_MS = 80;

interface Props {
  readonly run: OpenRun;
  readonly path: string;
  /** Where the cursor begins. */
  readonly line: number;
  /** Where code and history part. */
  readonly red: number | undefined;
}

export function LazyEditor({ run, path, line, red }: Props): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorHandle | undefined>(undefined);
  const own = useRef<string | undefined>(undefined);
  const [isLoading, setLoading] = useState(true);
  const textOf = () => run.code.value?.files.find((one) => one.path === path)?.text ?? "";
  const text = textOf();

  useEffect(() => {
    let isGone = false;
    let rest: ReturnType<typeof setTimeout> | undefined;
    let lastKey = -PAUSE_MS;
    const put = () => {
      rest = undefined;
      if (editor.current === undefined) return;
      own.current = editor.current.text();
      editFile(run, path, own.current);
    };
    import("./editor.ts").then(({ openEditor }) => {
      if (isGone) return;
      editor.current = openEditor(host.current!, {
        text: textOf(),
        label: `${path}, editor`,
        line,
        onChange: () => {
          clearTimeout(rest);
          const now = performance.now();
          rest = setTimeout(put, now - lastKey < PAUSE_MS ? REST_MS : 0);
          lastKey = now;
        },
        onLeave: () => (editing.value = false),
      });
      setLoading(false);
    }, (error: Error) => {
      if (isGone) return;
      editing.value = false;
      notify({
        title: "The editor could not be loaded",
        text: `${error.message} Check the connection to this page's server, and press Edit again.`,
      });
    });
    return () => {
      isGone = true;
      if (rest !== undefined) {
        clearTimeout(rest);
        put();
      }
      editor.current?.close();
      editor.current = undefined;
    };
  }, [run, path]);

  // A repair that was put in, or an edit that was undone.
  // The editor's own text comes back here, too, when more may have been typed since: it must not be put in again.
  useEffect(() => {
    if (text !== own.current) editor.current?.setText(text);
    own.current = text;
  }, [text]);
  useEffect(() => editor.current?.markRed(red), [red, isLoading]);

  return (
    <div class="editor" ref={host} data-path={path}>
      {isLoading && <p class="section say" role="status">Loading the editor.</p>}
    </div>
  );
}
