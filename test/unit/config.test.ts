import { expect } from "chai";
import { ConfigError, parseConfig } from "../../src/config.ts";

const access = ["--api-server", "https://127.0.0.1:1"];
const roles = { controller: ["--identity", "c"], agent: ["--node-name", "n"] };

describe("parseConfig", () => {
  for (const [role, own] of Object.entries(roles)) {
    const parse = (flags: string[] = [], env = {}) => parseConfig([role, ...access, ...own, ...flags], env);

    it(`has volumes attached by the controller unless it is told otherwise: ${role}`, () => {
      expect(parse().controllerAttachDetach).to.equal(true);
      expect(parse(["--controller-attach-detach=false"]).controllerAttachDetach).to.equal(false);
      const env = { NODEVOLUME_CONTROLLER_ATTACH_DETACH: "false" };
      expect(parse([], env).controllerAttachDetach).to.equal(false);
      expect(parse(["--controller-attach-detach", "true"], env).controllerAttachDetach).to.equal(true);
    });

    it(`takes nothing for a no that is none: ${role}`, () => {
      for (const text of ["", "False", "0", "no"]) {
        expect(() => parse([`--controller-attach-detach=${text}`]), text)
          .to.throw(ConfigError)
          .with.property("message", `--controller-attach-detach: ${JSON.stringify(text)} is not one of true, false`);
      }
    });
  }
});
