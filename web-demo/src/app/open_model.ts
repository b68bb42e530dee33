// What reads histories, in a chunk of its own. A chunk of the whole of "temporalex/debug" would bring along what explains divergences.
export { openRun } from "temporalex/debug";
