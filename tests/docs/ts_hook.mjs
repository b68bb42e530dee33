// Lets this Node load TypeScript as newer ones do by themselves: types are stripped, nothing is checked. For the documentation's projects.
import { register } from "node:module";

register("./ts_loader.mjs", import.meta.url);
