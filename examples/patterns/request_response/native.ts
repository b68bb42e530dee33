// A request and its response between two workflows: signals with the id of the request, so that a
// late response to an earlier request is not taken for the current one.
import {
  ApplicationFailure,
  externalWorkflow,
  noreply,
  on,
  receive,
  select,
  signal,
  sleep,
  stop,
  timer,
  waitForSignal,
  workflow,
  workflowInfo,
} from "temporalex/workflow";

export interface Request {
  readonly id: number;
  readonly from: string;
  readonly question: string;
}
export const ask = signal<[request: Request]>("ask");
export const answer = signal<[id: number, text: string]>("answer");
export const retire = signal("retire");

export const expert = workflow("expert", () =>
  receive(0, [
    on(ask, async ([{ id, from, question }], answered) => {
      await sleep(question.length * 1000); // thinks
      await externalWorkflow(from).signal(answer, id, `${question} is ${question.length} long`);
      return noreply(answered + 1);
    }),
    on(retire, (_, answered) => stop(answered)),
  ]));

export const asker = workflow("asker", async (who: string, questions: string[]) => {
  const answers: string[] = [];
  for (const [id, question] of questions.entries()) {
    try {
      await externalWorkflow(who).signal(ask, { id, from: workflowInfo().workflowId, question });
    } catch (error) {
      if (!(error instanceof ApplicationFailure)) throw error;
      return [`${who} is not available`];
    }
    const response = async () => {
      for (;;) {
        const [request, text] = await waitForSignal(answer);
        if (request === id) return text;
      }
    };
    answers.push(await select([on(response, (text) => text), timer("10s", () => "no answer")]));
  }
  return answers;
});
