// A separate chunk for reading histories. All of "temporalex/debug" would include the code that
// explains divergences.
export { openRun } from "temporalex/debug";
