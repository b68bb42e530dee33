// Which files and folders may hold code, by their names.

/** Files that may hold code, by name. */
export const isCode = (path: string): boolean => /\.[cm]?[jt]sx?$/.test(path) && !/\.d\.[cm]?ts$/.test(path);

/** Folders that are not searched. */
export const isSkipped = (folder: string): boolean => /^(?:node_modules|\..*|coverage)$/.test(folder);
