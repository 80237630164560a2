import { expect } from "chai";
import { createDiskGrants, type DiskGrants } from "../../../../src/controller/grants/disk-grants.ts";
import type { Intent } from "../../../../src/controller/model/projections.ts";
import { unresolvedKey } from "../../../../src/controller/model/volume-key.ts";
import type { KubeClient } from "../../../../src/kube/client/client.ts";
import { createObjectStore } from "../../../../src/kube/watch/object-store.ts";
import { RememberingLog } from "../../csi/remembering-log.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";

const [a, b] = ["36001405aaa", "36001405bbb"];
const created = { first: "2026-01-01T00:00:01Z", second: "2026-01-01T00:00:02Z" };
const key = (disk: string) => ({ driver: "kubernetes.io/any-disk", volumeHandle: disk });

function intent(name: keyof typeof created, disk: string, resourceVersion: string): Intent {
  const metadata = { name, uid: name, resourceVersion, creationTimestamp: created[name] };
  const source = { local: { path: "/dev/sdb" } };
  const spec = { nodeName: name, volumeName: "v", mode: "Manage", source, grant: { id: name, disk: "" } };
  return { metadata, spec, status: { disk, observedUID: name } } as unknown as Intent;
}

describe("a disk that is given while its agent finds another", () => {
  it("leaves the mark of the other one: no second node gets that before the write has an answer", async () => {
    const intents = createObjectStore<Intent>(virtualSystem());
    const later = intent("second", b, "3");
    let giving: Promise<unknown> = Promise.resolve();
    const grants: DiskGrants = createDiskGrants({
      client: {
        get: async () => later,
        mergePatch: () => Promise.reject(new Error("no answer")),
      } as unknown as KubeClient,
      log: new RememberingLog(),
      intents,
      attachStatus: { write: async () => undefined },
      upsertIntent: (raw) => intents.upsert(raw as Intent),
      // As the queue does: what is due runs before whoever has written goes on.
      onDue: (due) => {
        if (due.includes(b) && intents.get("second")?.status.disk === b)
          giving = Promise.resolve().then(() => grants.reconcile(key(b)).catch(() => undefined));
      },
      keyOf: () => unresolvedKey(""),
      doubtForMs: () => undefined,
    });
    intents.upsert(intent("second", a, "2"));
    await grants.reconcile(key(a));
    await giving;
    intents.upsert(intent("first", b, "4"));
    const first = intents.get("first") as Intent;
    expect(grants.waitReasonOf(first)?.on?.name).to.equal("second");
    grants.stop();
  });
});
