import { expect } from "chai";
import { systemNamespace } from "../../../src/api/names.ts";
import { ofKind, type Rules } from "../shipped-policies.ts";

describe("config/policy", () => {
  const policies = ofKind("ValidatingAdmissionPolicy");
  const expressionsOf = ({ spec }: Rules): string[] => {
    const { matchConditions = [], variables = [], validations = [] } = spec;
    return [...matchConditions, ...variables, ...validations].map(({ expression }) => expression);
  };

  const ofAccounts = /userInfo\.username/;
  const ourAgent = `request.userInfo.username != 'system:serviceaccount:${systemNamespace}:nodevolume-agent'`;

  it("names no namespace in what binds an account: kustomize moves accounts to that of an overlay, and would leave the text", () => {
    const naming = policies.flatMap((policy) => {
      const named = expressionsOf(policy).filter((text) => text.includes(systemNamespace));
      return named.length === 0 ? [] : [[policy.metadata.name, ...named]];
    });
    expect(naming).to.deep.equal([["nodevolume-acknowledgements", ourAgent]]);
  });

  it("lets an account off in our namespace alone: anybody may name his own nodevolume-agent", () => {
    const lettingOff = policies
      .flatMap(expressionsOf)
      .filter((text) => ofAccounts.test(text) && /!\s*request\.userInfo|username\s*!=/.test(text));
    expect(lettingOff).to.deep.equal([ourAgent]);
  });

  it("knows an account by its name in every namespace, and nobody whose name only looks like it", () => {
    const patterns = policies.flatMap(expressionsOf).flatMap((text) => {
      const [, pattern] = /userInfo\.username\.matches\('([^']+)'\)/.exec(text) ?? [];
      return pattern === undefined ? [] : [pattern];
    });
    expect(patterns).to.have.length(6);
    for (const pattern of patterns) {
      const account = /nodevolume-(agent|controller)/.exec(pattern)?.[0] ?? "";
      const known = (name: string) => new RegExp(pattern).test(name);
      for (const namespace of [systemNamespace, "storage-system"])
        expect(known(`system:serviceaccount:${namespace}:${account}`), pattern).to.equal(true);
      for (const name of [account, `system:serviceaccount::${account}`, `system:serviceaccount:a:b:${account}`])
        expect(known(name), pattern).to.equal(false);
      for (const name of [`x-${account}`, `${account}-x`])
        expect(known(`system:serviceaccount:${systemNamespace}:${name}`), pattern).to.equal(false);
    }
  });
});
