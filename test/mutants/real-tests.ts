/** Tests on the real kernel, by what they are about: of a source file these notice most, and quickly. */
const byFile: readonly (readonly [file: RegExp, tests: readonly string[]])[] = [
  [/^src\/agent\/executor\/csi\/republish/, ["csi-republish"]],
  [/^src\/agent\/executor\/csi\/(publish|stage)\./, ["csi-replies", "csi", "csi-no-stage"]],
  [
    /^src\/agent\/executor\/csi\//,
    ["csi-replies", "csi-release", "csi-no-stage", "csi-lost-record", "csi-held", "csi"],
  ],
  [
    /^src\/agent\/executor\/(stage|plugin-teardown)\./,
    ["exact", "restart", "content", "refusals", "hostile-source", "iscsi-database"],
  ],
  [/^src\/agent\/executor\/unstage\./, ["release", "leftovers", "foreign", "disk-release", "hostile-release"]],
  [
    /^src\/agent\/executor\/(?!operation-executor|pending-operations)/,
    ["exact", "foreign", "recycled-id", "moved-target", "changes", "prefixes", "leave-pod", "pods"],
  ],
  [
    /^src\/agent\/(executor\/(operation-executor|pending-operations)|loop)\./,
    ["restart", "lost-record", "drift", "changes"],
  ],
];

/**
 * PURE. Tests on the real kernel that a fault in a file is tried with, quick ones first; none where it is not of the
 * executor.
 */
export function realTestsOf(file: string): readonly string[] {
  const [, tests = []] = byFile.find(([pattern]) => pattern.test(file)) ?? [];
  return tests.map((name) => `test/real/${name}.test.ts`);
}
