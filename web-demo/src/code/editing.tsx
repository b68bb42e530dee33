// Editing of the open file. The editor is loaded on first use; the plain text is shown until then.
import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { notify } from "../store/notices.ts";
import type { OpenRun } from "../store/state.ts";
import { editFile } from "./edits.ts";
import type { EditorHandle } from "./editor.ts";

export const editing: Signal<boolean> = signal(false);

/**
 * The first key after a pause is replayed immediately, then the last of a series of keys after
 * REST_MS. In milliseconds.
 */
const PAUSE_MS = 300, REST_MS = 80;

interface Props {
  readonly run: OpenRun;
  readonly path: string;
  /** Initial line of the cursor. */
  readonly line: number;
  /** Line of the first divergence. */
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
        title: "The editor cannot be loaded:",
        text:
          `${error.message} Check the connection to the server of this page, then press Edit again.`,
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

  // Sets the text after a repair or an undo. The editor's own text arrives here as well, possibly
  // after newer keys: setting it again would lose them.
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
