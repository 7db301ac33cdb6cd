package dev.tollgate.local.lambda;

import dev.tollgate.local.rest.ApiException;

/** The errors of Lambda's API. */
public final class LambdaErrors {
  private LambdaErrors() {}

  /** A value that does not fit what exists. */
  public static ApiException invalid(String message) {
    return new ApiException(400, "InvalidParameterValueException", message);
  }

  /** A resource that exists already. */
  public static ApiException conflict(String message) {
    return new ApiException(409, "ResourceConflictException", message);
  }

  static ApiException stale() {
    return new ApiException(
        412,
        "PreconditionFailedException",
        "The Revision Id provided does not match the latest Revision Id. "
            + "Call the GetFunction/GetAlias API to retrieve the latest Revision Id");
  }

  static ApiException unreadable() {
    return new ApiException(
        400, "InvalidRequestContentException", "Could not parse request body into json");
  }
}
