/** The access reviews of authorization.k8s.io, and the list of the caller's own rules. */
import { ApiError, type ApiResponse, failure, type UserInfo } from "@setpoint/apimachinery";
import type { Endpoint, EndpointRequest, EndpointTable } from "../registry/endpoint.ts";
import type { Authorizer, RequestAttributes } from "../request/request-attributes.ts";
import { asRecord, asStrings, asText, type JsonRecord } from "./read-json.ts";
import { withoutTables } from "./no-table.ts";
import type { PolicyRule } from "./policy-rule.ts";

/** What the access reviews ask for decisions and rules. */
export interface ReviewEndpointsOptions {
  readonly authorizer: Authorizer;
  /** What a user may do in a namespace, for SelfSubjectRulesReview (`RbacAuthorizer.rulesFor`). */
  rulesFor(user: UserInfo, namespace: string): readonly PolicyRule[];
}

const group = "authorization.k8s.io";

/**
 * The review endpoints of `authorization.k8s.io/v1`: of a given user, of the caller, of a namespace, and of
 * the caller's rules.
 */
export function createReviewEndpoints(options: ReviewEndpointsOptions): EndpointTable {
  const review =
    (kind: string, check: (request: EndpointRequest, spec: JsonRecord) => UserInfo): Endpoint =>
    async (request) => {
      const spec = asRecord(request.body?.["spec"]);
      return created(request, kind, spec, decide(options.authorizer, check(request, spec), spec));
    };
  const table = new Map<string, Endpoint>([
    [`POST ${group}/v1/subjectaccessreviews`, review("SubjectAccessReview", (_, spec) => subjectOf(spec))],
    [
      `POST ${group}/v1/selfsubjectaccessreviews`,
      review("SelfSubjectAccessReview", (request, spec) => {
        requireAttributes(spec, []);
        return request.attributes.user;
      }),
    ],
    [`POST ${group}/v1/localsubjectaccessreviews`, review("LocalSubjectAccessReview", localSubject)],
    [`POST ${group}/v1/selfsubjectrulesreviews`, async (request) => rulesReview(options, request)],
  ]);
  return withoutTables(table);
}

function subjectOf(spec: JsonRecord): UserInfo {
  const username = asText(spec["user"]);
  const groups = asStrings(spec["groups"]);
  const message = 'Invalid value: "": at least one of user or group must be specified';
  requireAttributes(spec, username === "" && groups.length === 0 ? [["spec.user", message]] : []);
  return { username, groups };
}

function localSubject(request: EndpointRequest, spec: JsonRecord): UserInfo {
  const { namespace } = request.attributes;
  const user = subjectOf(spec);
  const asked = asText(asRecord(spec["resourceAttributes"])["namespace"]);
  if (asked === namespace) return user;
  const message = `Invalid value: ${JSON.stringify(asked)}: must match metadata.namespace`;
  throw invalidReview([["spec.resourceAttributes.namespace", message]]);
}

type FieldProblem = readonly [field: string, message: string];

function requireAttributes(spec: JsonRecord, others: readonly FieldProblem[]): void {
  const count = [spec["resourceAttributes"], spec["nonResourceAttributes"]].filter((each) => each != null).length;
  const message = "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified";
  const own: readonly FieldProblem[] = count === 1 ? [] : [["spec.resourceAttributes", message]];
  const problems = [...own, ...others];
  if (problems.length > 0) throw invalidReview(problems);
}

/** Upstream leaves the kind out of these messages, and clients print them as they are. */
function invalidReview(problems: readonly FieldProblem[]): ApiError {
  const texts = problems.map(([field, message]) => `${field}: ${message}`);
  const causes = problems.map(([field, message]) => ({ reason: "FieldValueInvalid", message, field }));
  const list = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  return new ApiError(failure(422, "Invalid", `.${group} "" is invalid: ${list}`, { group, causes }));
}

function decide(authorizer: Authorizer, user: UserInfo, spec: JsonRecord): JsonRecord {
  const { allowed, reason } = authorizer.authorize(attributesOf(user, spec));
  return { allowed, ...(reason === undefined || reason === "" ? {} : { reason }) };
}

function attributesOf(user: UserInfo, spec: JsonRecord): RequestAttributes {
  const paths = spec["nonResourceAttributes"];
  const isResourceRequest = paths == null;
  const asked = asRecord(isResourceRequest ? spec["resourceAttributes"] : paths);
  return {
    user,
    isResourceRequest,
    verb: asText(asked["verb"]),
    path: asText(asked["path"]),
    group: asText(asked["group"]),
    version: asText(asked["version"]),
    resource: asText(asked["resource"]),
    subresource: asText(asked["subresource"]),
    namespace: asText(asked["namespace"]),
    name: asText(asked["name"]),
  };
}

function rulesReview(options: ReviewEndpointsOptions, request: EndpointRequest): ApiResponse {
  const spec = asRecord(request.body?.["spec"]);
  const namespace = asText(spec["namespace"]);
  if (namespace === "") throw new ApiError(failure(400, "BadRequest", "no namespace on request"));
  const rules = options.rulesFor(request.attributes.user, namespace);
  const resourceRules = rules.filter((rule) => rule.resources.length > 0).map(resourceRule);
  const nonResourceRules = rules
    .filter((rule) => rule.nonResourceURLs.length > 0)
    .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs }));
  return created(request, "SelfSubjectRulesReview", {}, { resourceRules, nonResourceRules, incomplete: false });
}

function resourceRule({ verbs, apiGroups, resources, resourceNames }: PolicyRule): JsonRecord {
  return { verbs, apiGroups, resources, ...(resourceNames.length === 0 ? {} : { resourceNames }) };
}

function created(request: EndpointRequest, kind: string, spec: JsonRecord, status: JsonRecord): ApiResponse {
  const { namespace } = request.attributes;
  const metadata = namespace === "" ? {} : { namespace };
  const object = { kind, apiVersion: `${group}/v1`, metadata, spec, status };
  return { kind: "object", status: 201, headers: {}, object };
}
