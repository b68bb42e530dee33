// A module of activities whose top level computes for longer than any test waits.
export const never = (): string => "never";
for (let i = 0; i < 1.5e10; i++);
