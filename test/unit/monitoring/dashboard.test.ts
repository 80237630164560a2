import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";
import { familiesOf, seriesOf, servedByRole } from "./served.ts";

const textOf = (name: string) => readFileSync(join(root, "config/components/monitoring", name), "utf8");

describe("dashboard", () => {
  it("and alerts ask for what agents and controllers have, and nothing else", async () => {
    const there = Object.values(await servedByRole())
      .flatMap(familiesOf)
      .flatMap(seriesOf);
    const text = textOf("nodevolume.json") + textOf("rules.yaml");
    const asked = text.match(/\b(nodevolume|volume_manager|kubelet|process|nodejs)_\w+/g) ?? [];
    expect(asked.length).to.be.greaterThan(40);
    for (const name of new Set(asked)) expect(there).to.include(name);
  });

  it("says of each panel what it shows and in which unit, by a source that can be chosen, and none hides another", () => {
    const { panels } = JSON.parse(textOf("nodevolume.json")) as { panels: readonly Panel[] };
    const taken = new Set<string>();
    for (const { title, description, datasource, fieldConfig, gridPos, targets } of panels) {
      expect(description, title).to.be.a("string").that.is.not.empty;
      expect(fieldConfig.defaults.unit, title).to.be.a("string");
      for (const { uid } of [datasource, ...targets.map((target) => target.datasource)])
        expect(uid).to.equal("$" + "{datasource}");
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(taken.has(`${x} ${y}`), `${title} lies on another`).to.equal(false);
          taken.add(`${x} ${y}`);
        }
    }
  });
});

interface Panel {
  readonly title: string;
  readonly description?: string;
  readonly datasource: { readonly uid: string };
  readonly fieldConfig: { readonly defaults: { readonly unit?: string } };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly { readonly datasource: { readonly uid: string } }[];
}
