import { expect } from "chai";
import { readSecret } from "../../../src/agent/secrets.ts";
import type { VolumeError } from "../../../src/errors.ts";
import { ApiError } from "../../../src/kube/api-error.ts";

const ref = { namespace: "storage", name: "login" };

describe("a Secret that a driver needs (kubelet behaviour 108)", () => {
  it("is asked of the server each time, and what stands in the way is transient", async () => {
    const answers: (object | Error | undefined)[] = [
      { data: { password: "b25l" } },
      { data: { password: "dHdv" } },
      new ApiError(403, "Forbidden", "no"),
      new ApiError(503, "ServiceUnavailable", "later"),
      undefined,
    ];
    const get = async () => {
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer as never;
    };
    const read = () => readSecret({ get }, ref);
    expect([...(await read()), ...(await read())]).to.deep.equal([
      ["password", "one"],
      ["password", "two"],
    ]);
    const failures = [];
    for (let left = answers.length; left > 0; left -= 1) {
      const { reason, errorClass } = (await read().then(
        () => expect.fail("it was read"),
        (error: unknown) => error,
      )) as VolumeError;
      failures.push(`${reason} ${errorClass}`);
    }
    expect(failures).to.deep.equal([
      "SecretAccessDenied transient",
      "ContentUnknown transient",
      "SecretNotFound transient",
    ]);
  });
});
