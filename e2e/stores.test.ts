/**
 * The suite that every store passes, against real servers of S3 and Azure Blob Storage on loopback that are
 * not ours.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStorage } from "@setpoint/data-service/agent";
import { afterAll, beforeAll } from "vitest";
import { storageConformance } from "../packages/data-service/src/storage/storage-conformance.fixture.ts";
import { type AzureServer, findAzureServer, startAzureServer } from "./stores/azure-server.ts";
import { installS3Server, type S3Server, startS3Server } from "./stores/s3-server.ts";

const patience = { retries: 2, retryDelayMsMin: 50, callMsMax: 10_000, transferMsMax: 30_000 };
let folder: string;
let s3: S3Server | undefined;
let azure: AzureServer | undefined;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-stores-"));
  const secrets = (values: Readonly<Record<string, string>>): void => {
    for (const [name, value] of Object.entries(values)) writeFileSync(join(folder, name), value);
  };
  const installed = installS3Server();
  if ("missing" in installed) console.log(`Skipped S3: ${installed.missing}`);
  else s3 = await startS3Server(installed.program);
  if (s3 !== undefined) secrets({ "access-key-id": s3.credentials.id, "secret-access-key": s3.credentials.secret });
  const found = findAzureServer();
  if ("missing" in found) console.log(`Skipped Azure: ${found.missing}`);
  else azure = await startAzureServer(found.program);
  if (azure !== undefined) secrets({ "account-name": azure.account, "account-key": azure.key });
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await s3?.[Symbol.asyncDispose]();
  await azure?.[Symbol.asyncDispose]();
});

storageConformance("S3", () => {
  if (s3 === undefined) return undefined;
  return openStorage(
    { type: "s3", bucket: s3.bucket, endpoint: s3.endpoint, region: "us-east-1" },
    "pre/fix",
    folder,
    patience,
  );
});

storageConformance("Azure", () => {
  if (azure === undefined) return undefined;
  return openStorage(
    { type: "azure", container: azure.container, endpoint: azure.endpoint },
    "pre/fix",
    folder,
    patience,
  );
});
