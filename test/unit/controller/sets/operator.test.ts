import { expect } from "chai";
import { createFinalizerController, decideFinalizer } from "../../../../src/controller/sets/finalizer-controller.ts";
import { createOperatorFinalizerController } from "../../../../src/controller/sets/operator.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";
import { createFleet, settledFleet } from "../fleet.ts";
import { rawSet, setEntry } from "../objects.ts";

describe("decideFinalizer", () => {
  const cases: [string, Parameters<typeof setEntry>[1], string][] = [
    ["a new set", { finalizers: [] }, "add"],
    ["a set with another's finalizer", { finalizers: ["other"] }, "add"],
    ["a set that has ours", {}, "nothing"],
    ["a set that is being deleted", { deleted: true }, "release"],
    ["one that is being deleted without ours", { deleted: true, finalizers: ["other"] }, "nothing"],
  ];
  for (const [what, options, expected] of cases) {
    it(`${what}: ${expected}`, () => expect(decideFinalizer(setEntry("a", options))).to.equal(expected));
  }
});

const shells = {
  "the plain shell": () => createFinalizerController,
  "the operator shell": () => createOperatorFinalizerController(virtualSystem().log),
};

for (const [name, create] of Object.entries(shells)) {
  describe(`${name} drives the life of a set`, () => {
    it("puts the finalizer on, beside those of others, and takes only its own off at the end", async () => {
      const fleet = await settledFleet(2, {}, create());
      const finalizers = () => fleet.api.object("nodevolumesets", "a")?.metadata.finalizers;
      expect(finalizers()).to.deep.equal(["nodevolume.dev/unmount"]);
      fleet.api.patch("nodevolumesets", "a", {
        metadata: { finalizers: ["somebody/else", "nodevolume.dev/unmount"] },
      });
      fleet.agents.delete("n0");
      fleet.api.remove("nodevolumesets", "a");
      await fleet.run(3_000);
      expect(finalizers()).to.deep.equal(["somebody/else", "nodevolume.dev/unmount"]);
      fleet.agents.add("n0");
      await fleet.run(3_000);
      expect(finalizers()).to.deep.equal(["somebody/else"]);
      expect(fleet.intents()).to.deep.equal([]);
    });

    it("puts it back when somebody takes it off", async () => {
      const fleet = await settledFleet(1, {}, create());
      fleet.api.patch("nodevolumesets", "a", { metadata: { finalizers: [] } });
      await fleet.run(2_000);
      expect(fleet.api.object("nodevolumesets", "a")?.metadata.finalizers).to.deep.equal(["nodevolume.dev/unmount"]);
    });

    it("never drops a finalizer that came while it looked: its write is for one version of the set", async () => {
      const fleet = await settledFleet(1, {}, create());
      let added = false;
      fleet.api.fault = ({ method, path, body }) => {
        const removal = method === "PATCH" && path.endsWith("nodevolumesets/a") && JSON.stringify(body).includes("[]");
        if (removal && !added) {
          added = true;
          fleet.api.patch("nodevolumesets", "a", {
            metadata: { finalizers: ["nodevolume.dev/unmount", "late/comer"] },
          });
        }
        return undefined;
      };
      fleet.api.remove("nodevolumesets", "a");
      await fleet.run(5_000);
      expect(added).to.equal(true);
      expect(fleet.api.object("nodevolumesets", "a")?.metadata.finalizers).to.deep.equal(["late/comer"]);
    });

    it("writes no intent while the finalizer cannot be written", async () => {
      const fleet = createFleet(create());
      fleet.node("n0");
      fleet.start();
      await fleet.run(1_000);
      fleet.api.fault = ({ method, path }) =>
        method === "PATCH" && path.endsWith("nodevolumesets/a") ? { status: 500 } : undefined;
      const { spec } = rawSet("a");
      fleet.api.apply("nodevolumesets", { metadata: { name: "a", finalizers: ["somebody/else"] }, spec });
      await fleet.run(10_000);
      expect(fleet.intents()).to.deep.equal([]);
      fleet.api.fault = () => undefined;
      await fleet.run(10_000);
      expect(fleet.conditions("a")[0]).to.equal("Ready=True/AllReady");
    });

    for (const requeueAfter of [undefined, 1_000]) {
      it(`leaves the finalizer of a set that is still in use, and asks again after ${requeueAfter} ms`, async () => {
        const written: unknown[] = [];
        let onSet: ((set: ReturnType<typeof setEntry>) => Promise<number | undefined>) | undefined;
        const controller = create()({
          watchSets: (handler) => {
            onSet = handler;
          },
          writeFinalizers: (_, finalizers) => Promise.resolve(void written.push(finalizers)),
          reconcile: () => Promise.resolve(7),
          release: () => Promise.resolve({ why: "1 intents are left", requeueAfter }),
        });
        await controller.start();
        expect(await onSet?.(setEntry("a", { deleted: true }))).to.equal(requeueAfter);
        expect(await onSet?.(setEntry("a")), "in force").to.equal(7);
        expect(written).to.deep.equal([]);
      });
    }

    it("tries again when the finalizer cannot be written", async () => {
      const fleet = await settledFleet(1, {}, create());
      let failures = 3;
      fleet.api.fault = ({ method, path }) => {
        if (method !== "PATCH" || !path.endsWith("nodevolumesets/a")) return undefined;
        failures -= 1;
        return failures >= 0 ? { status: 500 } : undefined;
      };
      fleet.api.remove("nodevolumesets", "a");
      await fleet.run(10_000);
      expect(fleet.api.object("nodevolumesets", "a")).to.equal(undefined);
    });
  });
}

describe("createOperatorFinalizerController", () => {
  const deps = {
    watchSets: () => {},
    writeFinalizers: () => Promise.resolve(),
    reconcile: () => Promise.resolve(undefined),
    release: () => Promise.resolve(undefined),
  };

  it("does not read the kubeconfig of whoever starts it", async () => {
    const before = process.env["KUBECONFIG"];
    process.env["KUBECONFIG"] = "/nonexistent/kubeconfig";
    try {
      const shell = createOperatorFinalizerController(virtualSystem().log)(deps);
      await shell.start();
      shell.stop();
    } finally {
      if (before === undefined) delete process.env["KUBECONFIG"];
      else process.env["KUBECONFIG"] = before;
    }
  });

  it("hands over nothing more after stop", async () => {
    let onSet: ((set: ReturnType<typeof setEntry>) => Promise<number | undefined>) | undefined;
    const reconciled: string[] = [];
    const shell = createOperatorFinalizerController(virtualSystem().log)({
      ...deps,
      watchSets: (handler) => {
        onSet = handler;
      },
      reconcile: (set) => {
        reconciled.push(set.metadata.name);
        return Promise.resolve(undefined);
      },
    });
    await shell.start();
    await onSet?.(setEntry("a"));
    shell.stop();
    await onSet?.(setEntry("b"));
    expect(reconciled).to.deep.equal(["a"]);
  });
});
