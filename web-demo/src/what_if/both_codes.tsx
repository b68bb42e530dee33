// The code with two bars per line: black if it ran in A, violet if it ran in B.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { DebugSession } from "temporalex/debug";
import type { Branches } from "./branches.ts";

/**
 * Returns a predicate: whether a line of the file ran in the session. Undefined if the session has
 * no lines of the file.
 */
function ranIn(
  session: DebugSession | undefined,
  path: string,
): ((line: number) => boolean) | undefined {
  const code = session?.code;
  const file = code?.files.find(({ name, url }) =>
    name === path || name.endsWith(`/${path}`) || url.endsWith(`/${path}`)
  );
  if (session === undefined || code === undefined || file === undefined) return undefined;
  const { hits } = code.counts(file.index, session.length);
  return (line) => (hits[line] ?? 0) > 0;
}

export function BothCodes({ branches }: { branches: Branches }): JSX.Element {
  const { run, sessions, chosen } = branches;
  const first = useRef<HTMLDivElement>(null);
  useEffect(() => first.current?.scrollIntoView({ block: "start" }), [
    chosen.value,
    sessions.value,
  ]);
  const code = run.code.value;
  const path = code?.entry ?? "";
  const text = code?.files.find((file) => file.path === path)?.text;
  if (text === undefined) return <p class="soft empty">This run has no code.</p>;
  const a = ranIn(run.session.value, path);
  const b = ranIn(sessions.value.get(chosen.value), path);
  const lines = text.split("\n");
  const only = (one: typeof a, other: typeof a) =>
    lines.filter((_, i) => one?.(i + 1) === true && other?.(i + 1) !== true).length;
  // Scroll to the first line that ran in only one of them, otherwise to the first that ran: imports
  // are not interesting.
  const parts = lines.findIndex((_, i) => a?.(i + 1) === true !== (b?.(i + 1) === true));
  const shown = b !== undefined && parts >= 0
    ? parts
    : lines.findIndex((_, i) => a?.(i + 1) === true);
  return (
    <>
      {a !== undefined && b !== undefined && (
        <p class="ran-only">
          <span class="side-mark of-a">A</span> {only(a, b)} lines ran only in A{" "}
          <span class="side-mark of-b">B</span> {only(b, a)} only in B
        </p>
      )}
      <pre class="both-codes" tabIndex={0} aria-label={path}>
        {lines.map((line, i) => {
          const [inA, inB] = [a?.(i + 1) === true, b?.(i + 1) === true];
          return (
            <div key={i} ref={i === Math.max(0, shown - 3) ? first : undefined} class={`both-line ${inA || inB ? "ink" : ""}`}>
              <span class="both-number">{i + 1}</span>
              <span class={`ink-bar ${inA ? "of-a" : ""}`} />
              <span class={`ink-bar ${inB ? "of-b" : ""}`} />
              <code>{line}</code>
            </div>
          );
        })}
      </pre>
    </>
  );
}
