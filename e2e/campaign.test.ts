/** A short `npm run campaign`: the long one, with 1,000 failovers, is a command of its own. */
import { expect, test } from "vitest";
import { shortCampaign } from "./campaign/short-campaign.ts";

test("failovers lose no acknowledged write, and the checker finds a stale read", async () => {
  const { output, code } = await shortCampaign("--failovers", "4", "--plain", "1", "--seed", "4");
  expect([code, output.match(/^holds$/m)?.[0]]).toEqual([0, "holds"]);
  expect(output).toContain("The checker finds the stale read of a member that is cut off");
  expect(output).toMatch(/ 0 lost;.* 0 keys not linearizable/);
});
