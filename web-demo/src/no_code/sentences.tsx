// Cause and result of an item, as sentences.
import type { JSX } from "preact";
import type { RunItem } from "../store/run_model.ts";
import { goTo, type OpenRun, playing } from "../store/state.ts";
import { lasting } from "../ui/time.ts";
import {
  madeIn,
  numberOfTask,
  seenBy,
  takenBy,
  type TaskAnswer,
  taskAnswer,
  writtenIn,
} from "./came_of.ts";
import { Things } from "./names.tsx";

function TaskLink({ number, task }: { number: number; task: RunItem }): JSX.Element {
  const go = () => {
    playing.value = false;
    goTo(task.closedBy ?? task.to);
  };
  return <button type="button" class="thing-link" onClick={go}>task {number}</button>;
}

export function LedTo(
  { run: { model }, item }: { run: OpenRun; item: RunItem },
): JSX.Element | null {
  if (item.kind === "task") {
    const number = numberOfTask(model, item);
    const news = item.eventIds.length < 2 ? [] : seenBy(model, { number, task: item });
    return (
      <p class="say">
        {news.length === 0 ? "Nothing new before this task." : (
          <>
            Woken by: <Things items={news} />.
          </>
        )}
      </p>
    );
  }
  if (item.kind === "signal") return <p class="say">Sent from outside the workflow.</p>;
  const made = madeIn(model, item);
  if (made === undefined) return null;
  const news = seenBy(model, made);
  return (
    <p class="say">
      {item.kind === "update" ? "Accepted in " : "Started in "}
      <TaskLink {...made} />
      {news.length === 0 || item.kind === "update" ? "." : (
        <>
          , after <Things items={news} />.
        </>
      )}
    </p>
  );
}

export function CameOf({ run: { model }, item }: { run: OpenRun; item: RunItem }): JSX.Element {
  if (item.kind === "task") return <TaskResult run={{ model }} item={item} />;
  if (item.closedBy === undefined) return <p class="say">Open at the end of the history.</p>;
  // A workflow task writes the outcome of an update. No later task has to process that.
  if (item.kind === "update") {
    return <UpdateResult model={model} item={item} closedBy={item.closedBy} />;
  }
  const answer = takenBy(model, item.closedBy);
  if (answer === undefined) {
    const isOver = model.facts.status !== "Running";
    return (
      <p class="say">
        {isOver
          ? "The run ended before a workflow task processed the result."
          : "No workflow task has processed the result yet."}
      </p>
    );
  }
  return (
    <p class="say">
      <Answer answer={answer} />
    </p>
  );
}

type UpdateResultProps = Pick<OpenRun, "model"> & {
  readonly item: RunItem;
  readonly closedBy: number;
};

function UpdateResult({ model, item, closedBy }: UpdateResultProps): JSX.Element {
  const wrote = writtenIn(model, closedBy);
  if (item.status === "rejected") return <p class="say">Rejected by its validator.</p>;
  const outcome = item.status === "failed" ? "failed" : "completed";
  if (wrote === undefined) return <p class="say">It {outcome}.</p>;
  const isSame = madeIn(model, item)?.number === wrote.number;
  return <p class="say">It {outcome} in {isSame ? "the same task" : <TaskLink {...wrote} />}.</p>;
}

function TaskResult(
  { run: { model }, item }: { run: Pick<OpenRun, "model">; item: RunItem },
): JSX.Element {
  const number = numberOfTask(model, item);
  const [scheduled, started, closed] = item.eventIds.map((id) => model.lines[id - 1]?.timeMs);
  const waited = scheduled !== undefined && started !== undefined
    ? `It waited ${lasting(started - scheduled)} for a worker`
    : "";
  const ran = started !== undefined && closed !== undefined
    ? ` and took ${lasting(closed - started)}`
    : "";
  if (item.status !== "completed") {
    return (
      <p class="say">
        {item.status === "open" ? "It is not completed yet." : "It failed, so a server retries it."}
        {waited !== "" && ` ${waited}.`}
      </p>
    );
  }
  return (
    <p class="say">
      <Answer answer={taskAnswer(model, { number, task: item })} isTask /> {waited}
      {ran}.
    </p>
  );
}

interface AnswerProps {
  readonly answer: TaskAnswer;
  /** The sentence is about the task itself, so it needs no link to it. */
  readonly isTask?: boolean;
}

function Answer(
  { answer: { number, task, began, took, completedUpdates }, isTask = false }: AnswerProps,
): JSX.Element {
  const nothing = began.length + took.length + completedUpdates.length === 0;
  return (
    <>
      {isTask ? "The task " : (
        <>
          Then <TaskLink number={number} task={task} />
          {" "}
        </>
      )}
      {nothing && "led to nothing new."}
      {began.length > 0 && (
        <>
          led to <Things items={began} />
        </>
      )}
      {took.length > 0 && (
        <>
          {began.length > 0 ? ", and " : ""}canceled <Things items={took} />
        </>
      )}
      {completedUpdates.length > 0 && (
        <>
          {began.length + took.length > 0 ? ", and " : ""}completed{" "}
          <Things items={completedUpdates} />
        </>
      )}
      {!nothing && "."}
    </>
  );
}
