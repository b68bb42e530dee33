// A target of messages that can be down, and a list of messages that were not delivered.
export const outage = { active: false };

export async function deliver(message: string): Promise<string> {
  if (outage.active) throw new Error("the target is down");
  return `delivered ${message}`;
}

export async function park(_message: string, _reason: string): Promise<void> {}
