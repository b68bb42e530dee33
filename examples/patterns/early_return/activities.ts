// A bank: authorizing is fast, settling is slow.
import { ApplicationFailure } from "temporalex/activity";

export async function authorize(account: string, cents: number): Promise<string> {
  if (cents > 10_000) {
    throw new ApplicationFailure(`${account} has too little money`, {
      type: "Declined",
      nonRetryable: true,
    });
  }
  return `${account}-${cents}`;
}

export async function settle(_authorization: string): Promise<void> {}
