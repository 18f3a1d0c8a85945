/** Which changes of spec.version are admitted. */
import { rule } from "setpoint";

const isNewer = "(oldSelf.spec.version == '15' && self.spec.version == '17')";
/** What has not happened yet can be taken back. */
const isOfData =
  "(has(oldSelf.status) && has(oldSelf.status.dataVersion) && self.spec.version == oldSelf.status.dataVersion)";
const hasSafetyCopy =
  "has(oldSelf.status) && has(oldSelf.status.upgrade) && has(oldSelf.status.upgrade.safetyCopy) && has(oldSelf.status.upgrade.upgradedAt) && self.spec.version == oldSelf.status.upgrade.safetyCopy.version";
const hasConsent =
  "has(self.spec.upgrade) && has(self.spec.upgrade.loseWritesSince) && self.spec.upgrade.loseWritesSince == oldSelf.status.upgrade.upgradedAt";

export const versionRules = [
  rule(
    `self.spec.version == oldSelf.spec.version || ${isNewer} || ${isOfData} || (${hasSafetyCopy} && ${hasConsent})`,
    "an older major version cannot read the data: it can only return while status.upgrade.safetyCopy is there, with spec.upgrade.loseWritesSince set to status.upgrade.upgradedAt, which loses what was written since",
    { fieldPath: ".spec.version" },
  ),
] as const;
