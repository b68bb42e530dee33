// What accounts ask of other services. Each may run twice (a worker that dies after the work is
// done, before it has said so), so each does no harm when it does.
import { ApplicationFailure } from "temporalex/activity";
import type { Profile, Status } from "./workflow.ts";

/** Throws when the profile cannot be taken. */
export async function validateProfile(profile: Profile): Promise<void> {
  if (profile.name.trim() === "") {
    throw new ApplicationFailure("a profile needs a name", {
      type: "InvalidProfile",
      nonRetryable: true,
    });
  }
}

export async function sendVerificationEmail(_userId: string, email: string): Promise<void> {
  if (!email.includes("@")) {
    throw new ApplicationFailure(`"${email}" is not an address`, {
      type: "InvalidEmail",
      nonRetryable: true,
    });
  }
}

export async function sendNotification(userId: string, status: Status): Promise<string> {
  return `to ${userId}: your account is ${status}`;
}

/** Removes what other services keep of the user. */
export async function eraseData(_userId: string): Promise<void> {}
