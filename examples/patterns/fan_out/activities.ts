// A store of documents, whose words are counted.
import { ApplicationFailure } from "temporalex/activity";

export async function countWords(document: string): Promise<number> {
  if (document.startsWith("unreadable")) {
    throw new ApplicationFailure(`cannot read ${document}`, {
      type: "Unreadable",
      nonRetryable: true,
    });
  }
  return document.split(" ").length;
}
