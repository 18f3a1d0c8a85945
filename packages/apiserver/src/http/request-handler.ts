import type { ApiRequest, ApiResponse, UserInfo } from "@setpoint/apimachinery";

/** Whatever answers requests of the API: the API server, or a fake of it. */
export interface RequestHandler {
  handle(request: ApiRequest, user: UserInfo, signal: AbortSignal): Promise<ApiResponse>;
}
