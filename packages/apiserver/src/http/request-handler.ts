import type { ApiRequest, ApiResponse, UserInfo } from "@setpoint/apimachinery";

/** Whatever answers requests of the API: the API server, or a fake of it. */
export interface RequestHandler {
  handle(request: ApiRequest, user: UserInfo, signal: AbortSignal): Promise<ApiResponse>;
  /**
   * Called before a body is read. Throws an `ApiError` when the user is not authorized for the method and
   * path, whatever the body has.
   */
  admit(request: ApiRequest, user: UserInfo): void;
}
