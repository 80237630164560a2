// Random volumes of several sources, near the border between what is accepted and what is not.
import fc from "fast-check";

type Mostly = <T>(good: readonly T[], bad: readonly T[]) => fc.Arbitrary<T>;

interface Parts {
  readonly namespace: fc.Arbitrary<string>;
  readonly objectName: fc.Arbitrary<string>;
  /** Of configMap and secret. */
  readonly items: fc.Arbitrary<unknown>;
}

/** The members of a source that show the Node, or several sources. */
export function contentMembers(mostly: Mostly, { namespace, objectName, items }: Parts) {
  const path = fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom("x", "x/y", "y", "z.a", ".h", "é", "a", "b", "c/d/e", "c") },
    { weight: 1, arbitrary: fc.constantFrom("", "/x", "..a", "x/../y", "é".repeat(128)) },
  );
  const fieldPath = mostly(
    ["metadata.name", "metadata.labels['a.b/c']", "metadata.annotations", "status.nodeInfo.osImage", "spec.podCIDRs"],
    ["", "metadata.labels['']", "metadata.labels[a]", "metadata.labels['a b']", "status.nodeInfo.x", "spec.nodename"],
  );
  const resource = mostly(["allocatable.cpu", "capacity.a.b/c"], ["", "cpu", "allocatable.", "allocatable.a/b/c"]);
  const divisor = mostly(["1", "1Gi", "1m"], ["2", ""]);
  const field = fc.oneof(
    { weight: 30, arbitrary: fc.record({ path, fieldRef: fc.record({ fieldPath }) }) },
    {
      weight: 30,
      arbitrary: fc.record({
        path,
        resourceFieldRef: fc.record({ resource, divisor }, { requiredKeys: ["resource"] }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ path }) },
  );
  const downwardAPI = fc.record({ items: fc.array(field, { maxLength: 3 }) });
  const token = fc.record(
    {
      ...{ namespace, serviceAccountName: objectName, path },
      audience: mostly(["vault"], [""]),
      expirationSeconds: mostly([600, 86_400], [599, 86_401]),
    },
    { requiredKeys: ["namespace", "serviceAccountName", "path"] },
  );
  const name = mostly(["a", "a.b:c:d"], ["", "A", "-a"]);
  const signerName = mostly(["a.b/c"], ["", "a", "a/"]);
  const labelSelector = fc.record({
    matchLabels: fc.dictionary(fc.constantFrom("a", "b.c/d"), mostly(["", "v"], ["-"])),
  });
  const bundle = fc.oneof(
    fc.record({ path, name }),
    fc.record({ path, signerName, labelSelector }, { requiredKeys: ["path", "signerName"] }),
    fc.record({ path, name, signerName, labelSelector }, { requiredKeys: ["path"] }),
  );
  const object = fc.record({ namespace, name: objectName, items }, { requiredKeys: ["namespace", "name"] });
  const sources = fc.oneof(
    ...Object.entries({
      configMap: object,
      secret: object,
      downwardAPI,
      serviceAccountToken: token,
      clusterTrustBundle: bundle,
    }).map(([kind, of]) => fc.record({ [kind]: of as fc.Arbitrary<unknown> })),
  );
  return { downwardAPI, projected: fc.record({ sources: fc.array(sources, { maxLength: 4 }) }) };
}
