package dev.tollgate.local.gateway;

import dev.tollgate.local.json.Json;
import java.util.Optional;

/** The authorizer of a route of an HTTP API. */
@FunctionalInterface
public interface RouteAuthorizer {
  /** Admits every request. */
  RouteAuthorizer NONE = header -> new Decision.Admitted(Json.object());

  /**
   * Decides on a request.
   *
   * @param header its header {@code Authorization}
   */
  Decision decide(Optional<String> header);

  /**
   * Authorization by IAM. It admits every request, and the event names the account's root user as
   * the caller.
   */
  static RouteAuthorizer iam(String accountId) {
    return header ->
        new Decision.Admitted(
            Json.object(
                "iam",
                Json.object()
                    .put("accountId", accountId)
                    .put("callerId", accountId)
                    .put("userArn", "arn:aws:iam::" + accountId + ":root")
                    .put("userId", accountId)));
  }
}
