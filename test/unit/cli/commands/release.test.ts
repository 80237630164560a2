import { expect } from "chai";
import { fakeAnswer } from "../../../../hack/lib/fake-answer.ts";
import type { Cluster } from "../../../../src/cli/cluster.ts";
import type { Context } from "../../../../src/cli/command.ts";
import { releaseCommand } from "../../../../src/cli/commands/release.ts";
import { createKubeClient } from "../../../../src/kube/client/client.ts";
import type { ApiResponse, Transport } from "../../../../src/kube/client/transport.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";

const metadata = { name: "w.data-1", uid: "u", resourceVersion: "1", deletionTimestamp: "2026-01-01T00:00:00Z" };
const intent = { metadata, spec: { nodeName: "w", volumeName: "data", mode: "Manage" } };

/** The annotation that is written, of an API server that answers a SelfSubjectReview so. */
async function written(review: ApiResponse): Promise<string | undefined> {
  let annotation: string | undefined;
  const transport: Transport = {
    async request({ method, path, body }) {
      if (method === "POST") return review;
      if (method === "GET") return fakeAnswer(path, { status: 200, body: { items: [intent] } });
      const { annotations } = (body as { metadata: { annotations: { [key: string]: string } } }).metadata;
      annotation = annotations["nodevolume.dev/release"];
      return fakeAnswer(path, { status: 200, body: intent });
    },
    stream: () => () => {},
  };
  const client = createKubeClient({ transport, fieldManager: "" });
  const context = {
    terminal: { out: () => {}, note: () => {} },
    system: virtualSystem(),
    connect: async () => ({ client, transport, user: "of-kubeconfig" }) as unknown as Cluster,
  } as unknown as Context;
  const values = { "i-have-checked": "", reason: "powered off" } as const;
  await releaseCommand.run({ args: ["w", "data"], values, context });
  return annotation;
}

describe("kubectl nvi release", () => {
  it("writes whom the API server takes the user for", async () => {
    const review = (userInfo: object) => ({ status: 201, body: { status: { userInfo } } });
    expect(await written(review({ username: "jane" }))).to.match(/^jane: powered off \(/);
    expect(await written(review({}))).to.match(/^of-kubeconfig: powered off \(/);
  });

  it("writes nothing if the API server does not say it", async () => {
    const refused = { status: 403, body: { kind: "Status", reason: "Forbidden", message: "not you" } };
    const error: unknown = await written(refused).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Error).and.to.have.property("status", 403);
  });
});
