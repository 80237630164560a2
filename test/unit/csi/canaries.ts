/** Texts that stand nowhere else. */
export const canaries = {
  secret: "cnry-secret-5f0c\nsecond line of cnry",
  token: "cnry-token-77aa.bb.cc",
  mountFlag: "cnry-flag-1234",
} as const;
