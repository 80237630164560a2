import { expect } from "chai";
import { largeCluster, wellCluster } from "../../hack/lib/page/cluster.ts";
import { inChromium, rowsIn } from "./opened.ts";

describe("the page, with 5,000 nodes of ten volumes", function () {
  this.timeout(180_000);
  const open = inChromium();
  const elements = "document.querySelectorAll('*').length";

  it("has no more in the document than with fifty", async () => {
    const many = await (await open((real) => largeCluster(real, 5_000))).tab.value<number>(elements);
    const few = await (await open((real) => wellCluster(real, 50))).tab.value<number>(elements);
    expect(many).to.be.below(few + 250);
  });

  it("is filtered, sorted and read to its end", async () => {
    const { tab } = await open((real) => largeCluster(real, 5_000));
    expect(await tab.value("document.getElementById('head').textContent")).to.equal(
      "3 volumes blocked · 1 node in trouble",
    );
    expect(await tab.value("document.querySelector('#nodes-table table').getAttribute('aria-rowcount')")).to.equal(
      "5001",
    );
    await tab.value("document.querySelector('#nodes-table tr[tabindex=\"0\"]').focus()");
    await tab.press("End");
    await tab.until("document.activeElement.getAttribute('data-key') === 'worker-5000'");
    expect(await tab.value("document.activeElement.getAttribute('aria-rowindex')")).to.equal("5001");
    await tab.press("Home");
    await tab.until("document.activeElement.getAttribute('data-key') === 'worker-401'");
    await tab.press("/");
    await tab.type("worker-4101");
    await tab.until("document.getElementById('nodes-title').textContent === 'Nodes (1 of 5,000)'");
    expect((await tab.value<string[][]>(rowsIn("troubles-table"))).map(([state, node]) => [state, node])).to.deep.equal(
      [["? unknown", "worker-4101"]],
    );
    await tab.value(
      "document.getElementById('filter').value = ''; document.getElementById('filter').dispatchEvent(new Event('input'))",
    );
    await tab.click("[data-chip=waiting]");
    await tab.until("document.getElementById('nodes-title').textContent === 'Nodes (80 of 5,000)'");
    expect(tab.complaints).to.deep.equal([]);
  });

  it("shows one node of 5,000 in the picture, wide enough to be seen and hit", async () => {
    const { tab } = await open((real) => largeCluster(real, 5_000));
    const red = await tab.value<number>(`(() => {
      const canvas = document.querySelector("canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 12, canvas.width, 1);
      let count = 0;
      for (let at = 0; at < data.length; at += 4) if (data[at] > 180 && data[at + 1] < 60) count += 1;
      return count;
    })()`);
    expect(red).to.be.within(6, 8); // two bars, of which one is of two nodes
    await tab.value(`(() => {
      const canvas = document.querySelector("canvas");
      const { left, top, width } = canvas.getBoundingClientRect();
      const at = { clientX: left + (3000 / 5000) * width + 1, clientY: top + 12, bubbles: true };
      canvas.dispatchEvent(new MouseEvent("click", at));
    })()`);
    await tab.until("document.querySelector('#panel h2')?.textContent === 'worker-3001'");
  });
});
