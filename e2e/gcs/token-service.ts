/**
 * Gives access tokens for the credentials of a workload identity federation, as Google's token service does.
 * Keys of service accounts are exchanged at an address that cannot be changed, so tests cannot use them.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface TokenService extends AsyncDisposable {
  readonly accessToken: string;
  /** How many tokens were given. */
  readonly given: () => number;
  /** The text of the Secret's key `service-account.json`. */
  credentials(subjectFile: string): string;
}

/** It gives the token to a client that presents `subject`, and refuses all others. */
export async function startTokenService(subject: string): Promise<TokenService> {
  const accessToken = "canary-access-token";
  let given = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { subjectToken } = JSON.parse(await text(request)) as { readonly subjectToken?: unknown };
    const isKnown = subjectToken === subject;
    if (isKnown) given++;
    const body = isKnown
      ? { access_token: accessToken, token_type: "Bearer", expires_in: 3_600 }
      : { error: "invalid_grant", error_description: "the subject is unknown" };
    response.writeHead(isKnown ? 200 : 400, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => response.destroy(error));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    accessToken,
    given: () => given,
    credentials: (file) =>
      JSON.stringify({
        type: "external_account",
        audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/tests/providers/tests",
        subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
        token_url: `http://127.0.0.1:${port}/v1/token`,
        credential_source: { file, format: { type: "text" } },
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
