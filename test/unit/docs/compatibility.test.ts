import { expect } from "chai";
import { oldestNode } from "../../../hack/lib/bundle-cli.ts";
import type { ToolName } from "../../../hack/lib/tools/catalog.ts";
import { describeTool } from "../../../hack/lib/tools/tool.ts";
import { readPage } from "../../lib/docs/blocks.ts";

describe("docs/compatibility.md", () => {
  const page = readPage("docs/compatibility.md");
  const versionOf = (tool: ToolName) => describeTool(tool, "/c").version.slice(1);

  const named: readonly (readonly [what: string, text: string])[] = [
    ["the newest API server", `| 1.36 | ${versionOf("kube-apiserver")}: API server`],
    ["the oldest API server", `| 1.32 | ${versionOf("kube-apiserver-1.32")}: the API server`],
    ["the container runtime", `| containerd ${versionOf("containerd")} with runc ${versionOf("runc")} |`],
    ["etcd", `run with ${versionOf("etcd")}.`],
    ["kubectl", `run with ${versionOf("kubectl")}, also against the API server ${versionOf("kube-apiserver-1.32")}`],
    ["Helm", `run with ${versionOf("helm")} |`],
    ["Node", `| ${oldestNode} or newer |`],
  ];
  for (const [what, text] of named)
    it(`names the version of ${what} that the tests run`, () => {
      expect(page).to.include(text);
    });
});
