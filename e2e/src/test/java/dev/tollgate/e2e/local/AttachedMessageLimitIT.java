package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The chat of {@code examples/attach}, whose messages are limited as {@code docs/how-to} says. */
@Tag("nightly")
final class AttachedMessageLimitIT {
  /** Answers an admitted message with {@code said}. */
  private static final String ON_SAY =
      """
      package com.example.chat;

      import com.amazonaws.services.lambda.runtime.Context;
      import com.amazonaws.services.lambda.runtime.RequestHandler;
      import dev.tollgate.client.MessageLimit;
      import dev.tollgate.client.TollgateClient;
      import java.util.Map;
      import java.util.Optional;

      public final class OnSay implements RequestHandler<Map<String, Object>, Map<String, Object>> {
        private final MessageLimit limit =
            new MessageLimit(TollgateClient.fromEnvironment(), "message");

        @Override
        public Map<String, Object> handleRequest(Map<String, Object> event, Context context) {
          Map<String, Object> request = Route.member(event, "requestContext");
          String tenantId = Route.member(request, "authorizer").get("tenantId").toString();
          Optional<String> refusal = limit.refuse(tenantId, Optional.of("m-1"));
          return Map.of("statusCode", 200, "body", refusal.orElse("said"));
        }
      }
      """;

  @TempDir private static Path checkout;

  @Test
  void message_over_the_limit_is_answered_with_a_frame() throws Exception {
    BlockingQueue<String> frames = new LinkedBlockingQueue<>();
    try (LocalDeployment deployment =
        LocalDeployment.attached(AttachedChat.synthesizeWithMessageLimit(checkout, ON_SAY))) {
      assertThat(
              deployment
                  .control(
                      "POST",
                      "/tenants",
                      """
                      {"tenantId":"acme","tier":"gold","overrides":{"messagesPerMinute":2}}""")
                  .status())
          .isEqualTo(201);
      String url = deployment.outputs().get("WebSocketURL") + "?workspace=acme&name=ann";
      WebSocket socket =
          HttpClient.newHttpClient()
              .newWebSocketBuilder()
              .buildAsync(URI.create(url), new Frames(frames))
              .join();
      for (int i = 0; i < 3; i++) {
        socket.sendText("{\"action\":\"say\"}", true).join();
        String answer = frames.poll(60, TimeUnit.SECONDS);
        if (i < 2) {
          assertThat(answer).isEqualTo("said");
        } else {
          assertThat(answer)
              .startsWith("{\"type\":\"error\",\"id\":\"m-1\",\"code\":\"THROTTLED\"")
              .containsPattern("\"retryAfterSeconds\":[1-9]");
        }
      }
      socket.abort();
    }
  }

  private record Frames(BlockingQueue<String> frames) implements WebSocket.Listener {
    @Override
    public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
      frames.add(data.toString());
      socket.request(1);
      return CompletableFuture.completedFuture(null);
    }
  }
}
