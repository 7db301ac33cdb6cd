package dev.tollgate.local.gateway;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;

/**
 * Handlers that are put into a jar and loaded from there. A test shares only classes of the JDK
 * with them.
 */
public final class GatewayHandlers {
  /** The system property with the {@link CountDownLatch} of the invocations to come. */
  static final String ENTERED = "gateway.handlers.entered";

  /** The system property with the {@link CountDownLatch} that the invocations wait for. */
  static final String RELEASED = "gateway.handlers.released";

  private GatewayHandlers() {}

  private static CountDownLatch latch(String property) {
    return (CountDownLatch) Objects.requireNonNull(System.getProperties().get(property), property);
  }

  /** Allows, once the test releases it. */
  public static final class SlowAuthorizer
      implements RequestHandler<Map<String, Object>, Map<String, Object>> {
    /** In the process of the test. */
    public SlowAuthorizer(Map<String, String> environment, InstantSource clock) {}

    @Override
    public Map<String, Object> handleRequest(Map<String, Object> event, Context context) {
      try {
        latch(ENTERED).countDown();
        latch(RELEASED).await();
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
