// A parent whose every word to others is a secret: to children, to neighbors, in memos, and back.
import {
  ApplicationFailure,
  type ChildWorkflowFailure,
  executeChild,
  externalWorkflow,
  signal,
  startChild,
  upsertMemo,
  waitForSignal,
  workflow,
} from "temporalex/workflow";

export const SECRET = "SECRET";
export const whisper = signal<[text: string]>("whisper");

export const listener = workflow("Listener", async (text: string) => {
  if (text.endsWith("refuse")) {
    throw new ApplicationFailure(`${SECRET} failure`, {
      type: "Refused",
      details: [`${SECRET} detail`],
    });
  }
  return `${text} and ${await waitForSignal(whisper)}`;
});

export const talker = workflow("Talker", async (neighbor: string) => {
  upsertMemo({ kept: `${SECRET} kept`, removed: `${SECRET} removed` });
  const child = await startChild(listener, {
    args: [`${SECRET} argument`],
    memo: { of: `${SECRET} memo` },
  });
  await child.signal(whisper, `${SECRET} word`);
  const heard = await child.result();
  await externalWorkflow(neighbor).signal(whisper, `${SECRET} news`);
  const refused = await executeChild(listener, { args: [`${SECRET} refuse`] }).catch(
    (error: ChildWorkflowFailure) => {
      const { message, details } = error.cause as ApplicationFailure;
      return [message, ...details];
    },
  );
  upsertMemo({ removed: null });
  await waitForSignal(whisper);
  return { heard, refused };
});
