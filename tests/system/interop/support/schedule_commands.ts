// Schedules by Temporal's command line.

/** The commands of schedules; their workflows have no worker. */
export const SCHEDULES: readonly (readonly string[])[] = [
  ["create --schedule-id s1 --interval 9999h", "A"],
  ["create --schedule-id s1 --interval 9999h", "A"],
  ["create --schedule-id s2 --cron", "61 * * * *", "A"],
  ["create --schedule-id s2 --time-zone Nowhere --cron @daily", "A"],
  ["trigger --schedule-id s1"],
  ["toggle --schedule-id s1 --pause --reason holidays"],
  ["backfill --schedule-id s1 --overlap-policy AllowAll --start-time 2020-01-01T00:00:00Z --end-time 2024-01-01T00:00:00Z"],
  ["update --schedule-id s1 --cron", "CRON_TZ=Asia/Tokyo 0 9 * * MON", "A"],
  ["toggle --schedule-id s1 --unpause --reason again"],
  ["delete --schedule-id s1"],
].map(([words, ...more]) => [
  "schedule",
  ...words!.split(" "),
  ...more.flatMap((word) =>
    word === "A" ? "--workflow-id w --type W --task-queue nowhere".split(" ") : [word]
  ),
]);
