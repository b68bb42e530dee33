//! Events, workflow-task boundaries (core-spec 2.2), pages and look-ahead (2.4, 2.9).
