/** Reviews and tokens have no form as a Table. */
import type { Endpoint, EndpointTable } from "../registry/endpoint.ts";
import { notAcceptable } from "../response/api-errors.ts";

const accepted = ["application/json", "application/yaml"];
const asTable = /;\s*as=Table\b/;

/** The same endpoints; a client that accepts nothing but a Table of what it posts gets a 406. */
export function withoutTables(table: EndpointTable): EndpointTable {
  const refusing =
    (endpoint: Endpoint): Endpoint =>
    async (request) => {
      const accept = request.request.headers?.["accept"] ?? "";
      if (accept.split(",").every((clause) => asTable.test(clause))) throw notAcceptable(accepted);
      return endpoint(request);
    };
  return new Map([...table].map(([key, endpoint]) => [key, key.startsWith("POST ") ? refusing(endpoint) : endpoint]));
}
