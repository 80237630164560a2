import { expect } from "chai";
import { tokensStandInContext } from "../../../../src/api/driver-object.ts";
import { DriverObjectState, driverObjectProblem } from "../../../../src/csi/server/driver-object-state.ts";
import { settle, virtualSystem } from "../../kube/virtual-system.ts";

const spec = {
  attachRequired: false,
  podInfoOnMount: true,
  fsGroupPolicy: "None",
  volumeLifecycleModes: ["Ephemeral"],
  requiresRepublish: false,
  storageCapacity: false, // the API server's own defaults stand beside ours
  seLinuxMount: false,
};

describe("our own CSIDriver object", () => {
  it("is right as config has it", () => {
    expect(driverObjectProblem({ spec })).to.equal(undefined);
  });

  for (const [change, words] of [
    [{ attachRequired: true }, "attachRequired must be false"],
    [{ attachRequired: undefined }, "attachRequired must be false"],
    [{ podInfoOnMount: false }, "podInfoOnMount must be true"],
    [{ fsGroupPolicy: "File" }, "fsGroupPolicy must be None"],
    [{ fsGroupPolicy: undefined }, "fsGroupPolicy must be None"],
    [{ volumeLifecycleModes: ["Persistent"] }, "volumeLifecycleModes must be [Ephemeral]"],
    [{ volumeLifecycleModes: ["Ephemeral", "Persistent"] }, "volumeLifecycleModes must be [Ephemeral]"],
    [{ requiresRepublish: true }, "requiresRepublish must be false without tokenRequests"],
    [{ seLinuxMount: true }, "seLinuxMount must be false"],
    [{ tokenRequests: [{ audience: "a" }] }, "requiresRepublish must be true with tokenRequests"],
  ] as const) {
    it(`is wrong with ${Object.keys(change)} ${Object.values(change)}: ${words}`, () => {
      expect(driverObjectProblem({ spec: { ...spec, ...change } })).to.include(words);
    });
  }

  const asks = { ...spec, tokenRequests: [{ audience: "a" }], requiresRepublish: true };
  const inSecrets = { ...asks, serviceAccountTokenInSecrets: true };

  it("may bring tokens of pods, where it is called again", () => {
    for (const object of [{ spec: asks }, { spec: inSecrets }]) expect(driverObjectProblem(object)).to.equal(undefined);
    const changed = { spec: { ...inSecrets, fsGroupPolicy: "File" } };
    expect(driverObjectProblem(changed)).to.include("fsGroupPolicy must be None");
  });

  it("says whether kubelet writes them over what a pod has written", () => {
    const inContext = [spec, asks, inSecrets].map((one) => tokensStandInContext({ spec: one }));
    expect([tokensStandInContext(undefined), ...inContext]).to.deep.equal([false, false, true, false]);
  });

  it("is wrong if it is not there", () => {
    expect(driverObjectProblem(undefined)).to.include("there is no CSIDriver csi.nodevolume.dev");
  });

  describe("as it is read", () => {
    let reads: number;
    let object: (() => { spec?: object } | undefined) | undefined;
    const read = async () => {
      reads += 1;
      if (object === undefined) throw new Error("the server is away");
      return object();
    };
    const begin = async () => {
      reads = 0;
      const system = virtualSystem();
      const state = new DriverObjectState({ system, read }).start();
      await settle();
      return { system, state };
    };
    const refusal = (state: DriverObjectState) =>
      state.mayPublish().then(
        () => undefined,
        (error: { code: string; message: string }) => error,
      );

    it("lets volumes be published, and is not asked for at each call", async () => {
      object = () => ({ spec });
      const { state } = await begin();
      expect(await refusal(state)).to.equal(undefined);
      expect(await refusal(state)).to.equal(undefined);
      expect(reads).to.equal(1);
      state.stop();
    });

    it("is asked for again now and then: a change is refused, and its mending seen at the next call", async () => {
      object = () => ({ spec });
      const { system, state } = await begin();
      object = () => ({ spec: { ...spec, fsGroupPolicy: "File" } });
      await system.advance(10 * 60_000);
      expect(await refusal(state)).to.include({ code: "FAILED_PRECONDITION" });
      object = () => ({ spec });
      expect(await refusal(state)).to.equal(undefined);
      state.stop();
    });

    it("stays as it was last seen while the API server is away", async () => {
      object = () => ({ spec });
      const { system, state } = await begin();
      object = undefined;
      await system.advance(60 * 60_000);
      expect(reads).to.be.greaterThan(5);
      expect(await refusal(state)).to.equal(undefined);
      state.stop();
    });

    it("is asked for again where a call has tokens that it knows nothing of", async () => {
      object = () => ({ spec });
      const { state } = await begin();
      expect(await state.tokensInContext()).to.equal(false);
      object = () => ({ spec: asks });
      expect([await state.tokensInContext(), await state.tokensInContext(), reads]).to.deep.equal([true, true, 3]);
      state.stop();
    });

    it("is waited for if it was never seen", async () => {
      object = undefined;
      const { state } = await begin();
      const { code, message } = (await refusal(state)) ?? {};
      expect([code, message]).to.deep.equal([
        "UNAVAILABLE",
        "CSIDriverWrong: whether the CSIDriver is as it must be is not known: the server is away",
      ]);
      state.stop();
    });
  });
});
