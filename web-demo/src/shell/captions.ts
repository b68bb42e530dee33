// Captions of the first screen, shown while its sample plays.

export const CAPTIONS: readonly (readonly [title: string, text: string])[] = [
  [
    "Black is what has run.",
    "Each line of code turns black when it runs. The number next to it is how often it ran.",
  ],
  [
    "Gray is what has not.",
    "Dashed bars and pale text are in the history, but the code has not reached them yet.",
  ],
  [
    "Yellow is where it waits.",
    "The line at which the code waits. The timeline above shows for how long.",
  ],
  [
    "The black line is now.",
    "Drag it, or use the arrow keys. A step back is as fast as a step forward, because no code runs again.",
  ],
];

/** Index of the caption for a position: each caption covers a quarter of the run. */
export const captionAt = (position: number, length: number): number =>
  Math.min(CAPTIONS.length - 1, Math.floor((position - 1) / Math.max(1, length) * CAPTIONS.length));
