/** A short `npm run campaign -- postgres`: docs/postgres-failovers.md has the figures of a long one. */
import { expect, test } from "vitest";
import { shortCampaign } from "../campaign/short-campaign.ts";

test("failovers lose no acknowledged append, and the checker finds what is not serializable", async () => {
  const { output, code } = await shortCampaign("postgres", "--failovers", "4", "--seed", "3");
  expect([code, output.match(/^holds$/m)?.[0]]).toEqual([0, "holds"]);
  for (const level of ["READ COMMITTED", "REPEATABLE READ"])
    expect(output).toMatch(new RegExp(`The checker finds .*G.* at ${level}, and nothing at SERIALIZABLE`));
  expect(output).toMatch(/The checker finds \d+ appends that synchronous_commit = off has lost/);
  expect(output).toMatch(/ 0 lost;.* 0 violations of serializability/);
});
