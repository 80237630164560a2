import { expect } from "chai";
import { readSecret } from "../../../../src/agent/executor/secrets.ts";
import type { VolumeError } from "../../../../src/errors.ts";
import { ApiError } from "../../../../src/kube/client/api-error.ts";
import type { ReadOptions } from "../../../../src/kube/client/client.ts";

const ref = { namespace: "storage", name: "login" };

describe("a Secret that a driver needs (kubelet behaviour 108)", () => {
  it("is asked of the server each time, and what stands in the way is transient", async () => {
    const answers: (object | Error | undefined)[] = [
      { data: { password: "b25l" } },
      { data: { password: "dHdv" } },
      new ApiError(403, "Forbidden", "no"),
      new ApiError(403, "Forbidden", "nor as the node"),
      new ApiError(403, "Forbidden", "no"),
      { data: { password: "dGhyZWU=" } },
      new ApiError(503, "ServiceUnavailable", "later"),
      undefined,
    ];
    const askedAs: (string | undefined)[] = [];
    const get = async (_resource: unknown, _ref: unknown, options?: ReadOptions) => {
      askedAs.push(options?.asUser);
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer as never;
    };
    const read = () => readSecret({ client: { get }, nodeName: "worker-1" }, ref);
    expect([...(await read()), ...(await read())]).to.deep.equal([
      ["password", "one"],
      ["password", "two"],
    ]);
    const failure = async () => {
      const { reason, errorClass } = (await read().then(
        () => expect.fail("it was read"),
        (error: unknown) => error,
      )) as VolumeError;
      return `${reason} ${errorClass}`;
    };
    expect(await failure()).to.equal("SecretAccessDenied transient");
    expect([...(await read())], "as the node").to.deep.equal([["password", "three"]]);
    const node = "system:node:worker-1";
    expect(askedAs).to.deep.equal([undefined, undefined, undefined, node, undefined, node]);
    expect(await failure()).to.equal("ContentUnknown transient");
    expect(await failure()).to.equal("SecretNotFound transient");
  });

  it("has no value that is no text, as none may be as long as it says", async () => {
    const data = { password: { length: 2 ** 16 }, list: [1], number: 8, nothing: null, text: "b25l" };
    const get = async () => ({ data }) as never;
    expect([...(await readSecret({ client: { get }, nodeName: "worker-1" }, ref))]).to.deep.equal([["text", "one"]]);
  });
});
