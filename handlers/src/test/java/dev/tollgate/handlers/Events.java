package dev.tollgate.handlers;

import com.amazonaws.services.lambda.runtime.events.APIGatewayCustomAuthorizerEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2WebSocketEvent;
import dev.tollgate.http.testing.HttpApiEvents;
import dev.tollgate.http.testing.RecordingContext;
import java.time.Duration;
import java.util.Map;

/** Events of the shape that API Gateway sends. */
final class Events {
  static final String METHOD_ARN =
      "arn:aws:execute-api:eu-west-1:123456789012:abcdef1234/production/$connect";

  private Events() {}

  static APIGatewayCustomAuthorizerEvent handshake(Map<String, String> parameters) {
    return APIGatewayCustomAuthorizerEvent.builder()
        .withType("REQUEST")
        .withMethodArn(METHOD_ARN)
        .withQueryStringParameters(parameters)
        .build();
  }

  static APIGatewayV2WebSocketEvent route(String connectionId, Map<String, Object> authorizer) {
    APIGatewayV2WebSocketEvent.RequestContext context =
        new APIGatewayV2WebSocketEvent.RequestContext();
    context.setConnectionId(connectionId);
    context.setAuthorizer(authorizer);
    APIGatewayV2WebSocketEvent event = new APIGatewayV2WebSocketEvent();
    event.setRequestContext(context);
    return event;
  }

  static APIGatewayV2HTTPEvent http(String routeKey, Map<String, String> query) {
    APIGatewayV2HTTPEvent event = HttpApiEvents.of(routeKey);
    event.setQueryStringParameters(query);
    return event;
  }

  static RecordingContext context() {
    return new RecordingContext(Duration.ofSeconds(10));
  }
}
