// The counter has no activities; a worker for it registers none.
export {};
