import { expect } from "chai";
import { errorText } from "../../../src/cli/error-text.ts";
import { ApiError } from "../../../src/kube/client/api-error.ts";

/** Errors that people see at night: what went wrong, and after an arrow what to do. */
describe("errorText", () => {
  it("of credentials that are refused says to log in again", () => {
    expect(
      errorText(new ApiError(401, "Unauthorized", "GET /api: 401 Unauthorized: Unauthorized")).split("\n"),
    ).to.deep.equal([
      "the cluster does not accept the kubeconfig's credentials",
      "→ Log in again, or name another --context. To check: kubectl auth whoami",
    ]);
  });

  it("of a right that is missing repeats the server's words, and names who grants it", () => {
    const words = 'nodes is forbidden: User "eva" cannot list resource "nodes"';
    expect(
      errorText(new ApiError(403, "Forbidden", `GET /api/v1/nodes: 403 Forbidden: ${words}`)).split("\n"),
    ).to.deep.equal([
      words,
      "→ The ClusterRole nvi-viewer grants what this plugin reads (config/components/nvi-viewer). The command release needs nodevolume-admin.",
    ]);
  });
});
