// A workflow that listens from its first moment on, so that an update may come with its start.
import {
  ApplicationFailure,
  on,
  receive,
  reply,
  signal,
  stop,
  update,
  workflow,
} from "temporalex/workflow";

export const write = update<[text: string], string>("write");
export const close = signal("close");

export const notebook = workflow("Notebook", async (owner: string) =>
  await receive([owner], [
    on(write, ([text], pages) => reply(`${owner} wrote ${text}`, [...pages, text]), {
      validate: ([text]) => {
        if (text.includes("bad")) {
          throw new ApplicationFailure(`${text} is refused`, { details: [`${text} detail`] });
        }
      },
    }),
    on(close, (_, pages) => stop(pages)),
  ]));
