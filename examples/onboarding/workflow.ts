// Sequential workflow: three steps, one after the other, with a query that shows how far it is.
import { activities, publishState, query, workflow } from "temporalex/workflow";

export interface Progress {
  readonly step: "creating_account" | "sending_welcome" | "done";
}

export const status = query<Progress>("status");

const accounts = activities<typeof import("./activities.ts")>({
  startToClose: "10s",
  retry: { maximumAttempts: 5 },
});

export const onboarding = workflow("Onboarding", {
  messages: { status },
  queries: { status: (published: Progress) => published },
  async run(input: { readonly userId: string }): Promise<{ accountId: string }> {
    const at = (step: Progress["step"]) => publishState({ step } satisfies Progress);

    at("creating_account");
    const account = await accounts.createAccount(input.userId);

    at("sending_welcome");
    await accounts.sendWelcome(account);

    at("done");
    return { accountId: account.id };
  },
});
