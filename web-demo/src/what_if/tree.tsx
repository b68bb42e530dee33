// The tree of branches, each with its change and its result.
import type { JSX } from "preact";
import { type Branches, runChosen } from "./branches.ts";
import { editWords, endOf, outcomeWords } from "./words.ts";

export function Tree({ branches }: { branches: Branches }): JSX.Element {
  const { run, tree, chosen, history } = branches;
  const below = (parent: number, depth: number): JSX.Element[] =>
    tree.value.childrenOf(parent).flatMap((node) => {
      const { text, isBad } = outcomeWords(node);
      const [edit] = node.edits;
      const change = edit === undefined ? "" : editWords(run.model, edit).did;
      return [
        <li key={node.id} class={`depth-${Math.min(depth, 4)}`}>
          <button
            type="button"
            class="branch"
            aria-current={chosen.value === node.id ? "true" : undefined}
            onClick={() => {
              chosen.value = node.id;
              void runChosen(branches);
            }}
          >
            <span class="side-mark of-b">{chosen.value === node.id ? "B" : node.id}</span>
            <span class="branch-text">
              <b class="cut-text" title={node.title}>{node.title}</b>
              <span class="soft cut-text">{change}</span>
              <span class={`cut-text ${isBad ? "bad" : ""}`} title={text}>{text}</span>
            </span>
          </button>
        </li>,
        ...below(node.id, depth + 1),
      ];
    });
  const ending = history.value === undefined ? "" : endOf(history.value.events);
  return (
    <>
      <h2 class="section-title">Branches</h2>
      <ul class="branches">
        <li>
          <button
            type="button"
            class="branch"
            aria-current={chosen.value === 0 ? "true" : undefined}
            onClick={() => (chosen.value = 0)}
          >
            <span class="side-mark of-a">A</span>
            <span class="branch-text">
              <b>Recorded</b>
              <span class="soft">{run.model.lines.length} events</span>
              <span class="cut-text" title={ending}>{ending}</span>
            </span>
          </button>
        </li>
        {below(0, 1)}
      </ul>
      <p class="soft nothing-sent">
        Branches run in this page, in virtual time. Nothing is sent to the real run.
      </p>
    </>
  );
}
