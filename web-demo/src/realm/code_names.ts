// Recognizes files of code and skipped folders by their names.

/** Files that can be code, by name. */
export const isCode = (path: string): boolean =>
  /\.[cm]?[jt]sx?$/.test(path) && !/\.d\.[cm]?ts$/.test(path);

/** Folders that are not searched. */
export const isSkipped = (folder: string): boolean =>
  /^(?:node_modules|\..*|coverage)$/.test(folder);
