import { expect } from "chai";
import { followReserved } from "../../../../src/controller/claims/reserved-claims.ts";
import { projectClaim } from "../../../../src/controller/model/storage-objects.ts";
import { createObjectStore } from "../../../../src/kube/watch/object-store.ts";
import { replaceAll, virtualSystem } from "../../kube/virtual-system.ts";

function claim(resourceVersion: string, reserved = true, uid = "u") {
  const labels = reserved ? { "nodevolume.dev/reserved": "true" } : {};
  const found = projectClaim({ metadata: { name: "data", namespace: "apps", uid, resourceVersion, labels } });
  if (found === undefined) throw new Error("no claim");
  return found;
}

function world() {
  const { clock, log, advance } = virtualSystem();
  const store = createObjectStore<ReturnType<typeof claim>>({ clock, log });
  return { store, reserved: followReserved(store, clock), now: () => clock.monotonic(), advance };
}

describe("claims that their owners reserve", () => {
  it("is known since the watch has shown the label", async () => {
    const { store, reserved, now, advance } = world();
    const seenAt = now();
    store.upsert(claim("1"));
    await advance(7_000);
    replaceAll(store, [claim("1")], "9");
    expect(reserved.since(claim("1")), "read again, and the same").to.equal(seenAt);
    expect(reserved.since(claim("2")), "another version").to.equal(undefined);
    expect(now()).to.equal(seenAt + 7_000);
  });

  it("begins anew with any change, since the label may have been off in a gap", async () => {
    const { store, reserved, now, advance } = world();
    store.upsert(claim("1"));
    await advance(7_000);
    replaceAll(store, [claim("5")], "9");
    expect(reserved.since(claim("5"))).to.equal(now());
  });

  it("is not known of one without the label, without it any more, gone, or another of its name", () => {
    const { store, reserved } = world();
    store.upsert(claim("1", false));
    expect(reserved.since(claim("1", false))).to.equal(undefined);
    store.upsert(claim("2"));
    store.upsert(claim("3", false));
    expect(reserved.since(claim("2"))).to.equal(undefined);
    store.upsert(claim("4"));
    store.delete(claim("4"));
    expect(reserved.since(claim("4"))).to.equal(undefined);
    store.upsert(claim("6", true, "another"));
    expect(reserved.since(claim("4"))).to.equal(undefined);
    expect(reserved.since(claim("6", true, "another"))).not.to.equal(undefined);
  });
});
