package dev.tollgate.local.gateway;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import java.util.List;
import java.util.Map;

/** Handlers that are put into a jar and loaded from there; nothing else refers to them. */
public final class GatewayHandlers {

  private GatewayHandlers() {}

  /** Allows, after a second. */
  public static final class SlowAuthorizer
      implements RequestHandler<Map<String, Object>, Map<String, Object>> {

    @Override
    public Map<String, Object> handleRequest(Map<String, Object> event, Context context) {
      try {
        Thread.sleep(1_000);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      Map<String, Object> statement =
          Map.of(
              "Effect", "Allow",
              "Action", "execute-api:Invoke",
              "Resource", event.get("methodArn"));
      return Map.of(
          "principalId", "anyone", "policyDocument", Map.of("Statement", List.of(statement)));
    }
  }
}
