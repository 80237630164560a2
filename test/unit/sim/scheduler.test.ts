import { expect } from "chai";
import { Scheduler } from "../../sim/scheduler.ts";

describe("virtual time of the simulator", () => {
  it("goes on, also where a wait is too short for the clock to show", async () => {
    const scheduler = new Scheduler();
    await scheduler.run(69_294.828_957_719_44, () => false);
    let waits = 0;
    const wait = () => {
      waits += 1;
      scheduler.after(7.275957614183426e-12, wait);
    };
    wait();
    await scheduler.run(69_300, () => waits > 100);
    expect(waits).to.be.below(10);
  });
});
