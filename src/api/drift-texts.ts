/**
 * The words of an Event `Drifted` by which `kubectl nvi explain` tells a disk or a server that fails from somebody who
 * unmounts. The Event has one reason for all of them, and the status has the class of a drift only until its repair.
 */
export const driftTexts = {
  readOnlyFlip: "the kernel made the file system read-only",
  serverEnded: "the process that served ",
} as const;
