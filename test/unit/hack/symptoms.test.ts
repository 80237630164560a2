import { expect } from "chai";
import { renderSymptoms } from "../../../hack/lib/generate-symptoms.ts";
import { symptoms } from "../../../hack/lib/reference/symptoms.ts";

describe("renderSymptoms", () => {
  it("refuses to leave out a reason that asks something of people, and one that there is not", () => {
    expect(() => renderSymptoms(symptoms.slice(1))).to.throw("has no symptom of NotObserved, NotGranted");
    expect(() => renderSymptoms([...symptoms, ["It rains", "Mounted Weather"]])).to.throw("Weather is no reason");
  });

  it("shows what ends each reason, and links to its entry", () => {
    const text = renderSymptoms();
    expect(text).to.include("\n## A volume is not unmounted\n");
    expect(text).to.include(
      "| [TargetBusy](reasons.md#targetbusy) | waiting | no process or mount uses the mount any more |\n",
    );
  });
});
