// A request and its response between two workflows: signals with the id of the request, so that a
// late response to an earlier request is not taken for the current one.
import {
  ApplicationFailure,
  condition,
  defineSignal,
  getExternalWorkflowHandle,
  setHandler,
  sleep,
  workflowInfo,
} from "@temporalio/workflow";

export interface Request {
  readonly id: number;
  readonly from: string;
  readonly question: string;
}
export const ask = defineSignal<[request: Request]>("ask");
export const answer = defineSignal<[id: number, text: string]>("answer");
export const retire = defineSignal("retire");

export async function expert(): Promise<number> {
  const requests: Request[] = [];
  let retired = false;
  setHandler(ask, (request) => void requests.push(request));
  setHandler(retire, () => {
    retired = true;
  });
  for (let answered = 0;; answered++) {
    await condition(() => requests.length > 0 || retired);
    const request = requests.shift();
    if (request === undefined) return answered;
    const { id, from, question } = request;
    await sleep(question.length * 1000); // thinks
    const text = `${question} is ${question.length} long`;
    await getExternalWorkflowHandle(from).signal(answer, id, text);
  }
}

export async function asker(who: string, questions: string[]): Promise<string[]> {
  const received = new Map<number, string>();
  setHandler(answer, (id, text) => void received.set(id, text));
  const answers: string[] = [];
  for (const [id, question] of questions.entries()) {
    try {
      const from = workflowInfo().workflowId;
      await getExternalWorkflowHandle(who).signal(ask, { id, from, question });
    } catch (error) {
      if (!(error instanceof ApplicationFailure)) throw error;
      return [`${who} is not available`];
    }
    await condition(() => received.has(id), "10s");
    answers.push(received.get(id) ?? "no answer");
  }
  return answers;
}
