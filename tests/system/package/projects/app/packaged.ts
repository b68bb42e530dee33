// A workflow module with a third-party package, which reads process while it is loaded.
import { label } from "a-package";
import { workflow } from "temporalex/workflow";

export const packaged = workflow("Packaged", () => Promise.resolve(label("done")));
