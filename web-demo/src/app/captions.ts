// What the first screen says while its sample plays.

export const CAPTIONS: readonly (readonly [title: string, text: string])[] = [
  ["Black is what has run.", "The code takes its ink as the run goes on, line by line; beside it is how often each line ran."],
  ["Grey is what has not.", "Dashed bars and pale text are still to come: history knows them, the code does not."],
  ["Yellow is where it stands.", "The line that the code waits at, and above it, in the timeline, for how long."],
  [
    "The black line is now.",
    "Drag it, or use the arrow keys: a step back costs what a step forward costs, because nothing runs again.",
  ],
];

/** Which caption belongs to a position: each has a quarter of the run. */
export const captionAt = (position: number, length: number): number =>
  Math.min(CAPTIONS.length - 1, Math.floor((position - 1) / Math.max(1, length) * CAPTIONS.length));
