import { plugins } from "../../../src/plugins/registry.ts";
import { contractOf } from "../suite.ts";
import { merged } from "./merged.ts";
import { mergedCase } from "./merged-case.ts";

describe("the plugin of the guide", () => {
  before(() => {
    Object.assign(plugins, { merged });
  });
  after(() => {
    Reflect.deleteProperty(plugins, "merged");
  });
  contractOf(mergedCase);
});
