import { expect } from "chai";
import { identityObstacle } from "../../../../src/controller/attach/obstacles.ts";
import type { Intent } from "../../../../src/controller/model/projections.ts";

const id = { driver: "disk.example", volumeHandle: "vol-1" };
const staged = { nodeStageSecretRef: { namespace: "storage", name: "login" } };

function obstacle(
  asked: readonly string[],
  brought: readonly string[],
  more: { mounts?: readonly object[]; csi?: typeof staged } = {},
) {
  const { mounts = [], csi = {} } = more;
  const intent = { spec: { mounts } } as unknown as Intent;
  return identityObstacle({ tokenAudiences: asked, audiencesOfPods: brought, id }, intent, csi);
}

describe("a volume whose driver acts as the pod (safety rule 17, decision 0041)", () => {
  it("is for pods alone, where kubelet hands over what the driver asks for", () => {
    expect(obstacle(["vault"], ["aws", "vault"])).to.equal(undefined);
    expect(obstacle(["", "vault"], ["vault", ""])).to.equal(undefined);
  });

  it("is like any other where the driver acts as nobody", () => {
    expect(obstacle([], [], { mounts: [{}], csi: staged })).to.equal(undefined);
  });

  for (const [why, found, on, words] of [
    [
      "an audience is missing",
      obstacle(["vault", "aws", ""], ["aws"]),
      "csi.nodevolume.dev",
      'the audience "vault", ""',
    ],
    ["nothing is handed over", obstacle(["vault"], []), "csi.nodevolume.dev", "config/components/pod-tokens"],
    ["the node mounts it, too", obstacle(["vault"], ["vault"], { mounts: [{}] }), id.driver, "take the mounts off"],
    ["it is staged with a Secret", obstacle(["vault"], ["vault"], { csi: staged }), id.driver, "persistentVolumeClaim"],
  ] as const) {
    it(`is refused where ${why}, with what to do`, () => {
      expect(found?.reason).to.equal("PerPodIdentity");
      expect(found?.on).to.deep.equal({ kind: "CSIDriver", name: on });
      expect(found?.message).to.contain(id.driver).and.contain(words);
    });
  }
});
