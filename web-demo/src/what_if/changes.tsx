// The right pane: edits of the branch with Undo, missing results, how A and B end, the form for
// more changes, and reset advice.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Edit, Question } from "../../../ts/what_if/edits.ts";
import { resetAdvice } from "../../../ts/what_if/reset.ts";
import { position } from "../store/state.ts";
import { Glyph } from "../ui/glyph.tsx";
import { type Branches, changeEdits } from "./branches.ts";
import { ChangeForm } from "./change_form.tsx";
import { BROADCAST_ACTIVITY } from "../../../ts/converter/subscriptions.ts";
import { shownActivity } from "../../../ts/converter/procedure_names.ts";
import { editWords, endOf, itemOfEdit, jsonText, outcomeWords } from "./words.ts";

export function Changes({ branches }: { branches: Branches }): JSX.Element {
  const { run, tree, chosen, history } = branches;
  const node = chosen.value === 0 ? undefined : tree.value.node(chosen.value);
  const questions = node?.result?.questions ?? [];
  const advice = history.value && resetAdvice(history.value.events, position.value, {
    workflowId: run.model.facts.id,
    runId: run.model.facts.runId,
  });
  return (
    <>
      {node !== undefined && <Edits branches={branches} />}
      {questions.map((question) => (
        <Asked key={question.key} branches={branches} question={question} />
      ))}
      {node !== undefined && history.value !== undefined && (
        <section>
          <h2 class="section-title">How they end</h2>
          <p class="end-line">
            <span class="side-mark of-a">A</span> <code>{endOf(history.value.events)}</code>
          </p>
          <p class="end-line" id="end-of-b">
            <span class="side-mark of-b">B</span> <code>{outcomeWords(node).text}</code>
          </p>
          {node.result?.updates.filter(({ accepted }) => !accepted).map(({ id, name, message }) => (
            <p key={id} class="soft">Update {name} is rejected: {message}</p>
          ))}
        </section>
      )}
      <ChangeForm branches={branches} />
      {advice !== undefined && (
        <section>
          <h2 class="section-title">Reset the run here</h2>
          {advice.command !== undefined && (
            <pre class="reset" tabIndex={0}><code>{advice.command}</code></pre>
          )}
          <p class="soft">
            {advice.note.split("`").map((part, i) =>
              i % 2 === 1 ? <code key={i}>{part}</code> : part
            )}
          </p>
        </section>
      )}
    </>
  );
}

function Edits({ branches }: { branches: Branches }): JSX.Element {
  const { run, tree, chosen } = branches;
  const node = tree.value.node(chosen.value);
  return (
    <section class="edits">
      <h2 class="section-title">What B changes</h2>
      <ul>
        {node.edits.map((edit, i) => {
          const { name, did } = editWords(run.model, edit);
          const item = itemOfEdit(run.model, edit);
          return (
            <li key={i}>
              <p class="edit-line">
                {item !== undefined && <Glyph kind={item.kind} label={item.kind} />}
                <span class={edit.kind === "drop" ? "dropped" : ""}>{name}</span>{" "}
                <span class="soft">{did}</span>
                <button
                  type="button"
                  class="button bare small"
                  onClick={() => void changeEdits(branches, node.edits.filter((_, at) => at !== i))}
                >
                  Undo
                </button>
              </p>
              <EditDiff branches={branches} edit={edit} />
            </li>
          );
        })}
      </ul>
      {node.parent !== 0 && <p class="soft">Includes the changes of branch {node.parent}.</p>}
    </section>
  );
}

function EditDiff(
  { branches: { run }, edit }: { branches: Branches; edit: Edit },
): JSX.Element | null {
  const item = itemOfEdit(run.model, edit);
  if (edit.kind !== "payload" || item === undefined) return null;
  const was = run.model.inputOf(item).map((one) => "value" in one ? one.value : one.unreadable);
  const before = jsonText(was).split("\n");
  const after = jsonText(edit.args).split("\n");
  return (
    <pre class="edit-diff" tabIndex={0}>
      {before.filter((line) => !after.includes(line)).map((line, i) => <del key={`-${i}`}>{`- ${line}\n`}</del>)}
      {after.map((line, i) => before.includes(line) ? <span key={i}>{`  ${line}\n`}</span> : <ins key={i}>{`+ ${line}\n`}</ins>)}
    </pre>
  );
}

/** Asks for the result of a call that the history does not have. */
function Asked({ branches, question }: { branches: Branches; question: Question }): JSX.Element {
  const text = useRef<HTMLInputElement>(null);
  const [wrong, setWrong] = useState("");
  const { tree, chosen } = branches;
  // Focus only after Run this branch, never from another element.
  useEffect(() => {
    const { activeElement: from } = document;
    if (from === document.body || from?.id === "run-branch") {
      text.current?.focus({ preventScroll: true });
    }
  }, []);
  return (
    <form
      class="asked"
      onSubmit={(event) => {
        event.preventDefault();
        try {
          const given = text.current!.value.trim();
          const end = {
            kind: "completed",
            ...(given !== "" && { result: JSON.parse(given) as unknown }),
          } as const;
          const answer: Edit = { kind: "answer", key: question.key, end };
          void changeEdits(branches, [...tree.value.node(chosen.value).edits, answer]);
        } catch (error) {
          setWrong((error as Error).message);
        }
      }}
    >
      <p>
        {question.of} <b>{nameOf(question)}</b> has no recorded result. It was called with{" "}
        <code>{jsonText(question.args)}</code>.
      </p>
      <label>
        Result, as JSON <input ref={text} name="answer" spellcheck={false} placeholder='"done"' />
      </label>
      <button type="submit" class="button what-if">Use this result</button>
      {wrong !== "" && <p class="bad" role="alert">{wrong}</p>}
    </form>
  );
}

/** Broadcasts and procedures are activities with internal type names. */
const nameOf = ({ type }: Question): string =>
  type === BROADCAST_ACTIVITY ? "broadcast" : shownActivity(type);
