package dev.tollgate.handlers;

import com.amazonaws.services.lambda.runtime.events.APIGatewayCustomAuthorizerEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2WebSocketEvent;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent.DynamodbStreamRecord;
import com.amazonaws.services.lambda.runtime.events.models.dynamodb.AttributeValue;
import com.amazonaws.services.lambda.runtime.events.models.dynamodb.StreamRecord;
import dev.tollgate.core.session.Session;
import dev.tollgate.http.testing.HttpApiEvents;
import dev.tollgate.http.testing.RecordingContext;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Events in the form in which API Gateway and DynamoDB Streams send them to functions. */
public final class LambdaEvents {
  /** The ARN of the {@code $connect} route. */
  public static final String METHOD_ARN =
      "arn:aws:execute-api:eu-west-1:123456789012:abcdef1234/production/$connect";

  private LambdaEvents() {}

  /** A handshake with these query parameters, as the authorizer receives it. */
  public static APIGatewayCustomAuthorizerEvent handshake(Map<String, String> parameters) {
    return APIGatewayCustomAuthorizerEvent.builder()
        .withType("REQUEST")
        .withMethodArn(METHOD_ARN)
        .withQueryStringParameters(parameters)
        .build();
  }

  /** An event of a socket, with the context that the authorizer returned. */
  public static APIGatewayV2WebSocketEvent route(
      String connectionId, Map<String, Object> authorizer) {
    APIGatewayV2WebSocketEvent.RequestContext context =
        new APIGatewayV2WebSocketEvent.RequestContext();
    context.setConnectionId(connectionId);
    context.setAuthorizer(authorizer);
    APIGatewayV2WebSocketEvent event = new APIGatewayV2WebSocketEvent();
    event.setRequestContext(context);
    return event;
  }

  /** A request with these query parameters. */
  public static APIGatewayV2HTTPEvent http(String routeKey, Map<String, String> query) {
    APIGatewayV2HTTPEvent event = HttpApiEvents.of(routeKey);
    event.setQueryStringParameters(query);
    return event;
  }

  /** A request whose JSON Web Token has these claims. */
  public static APIGatewayV2HTTPEvent http(
      String routeKey, Map<String, String> query, Map<String, String> claims) {
    APIGatewayV2HTTPEvent event = http(routeKey, query);
    event
        .getRequestContext()
        .setAuthorizer(
            APIGatewayV2HTTPEvent.RequestContext.Authorizer.builder()
                .withJwt(
                    APIGatewayV2HTTPEvent.RequestContext.Authorizer.JWT
                        .builder()
                        .withClaims(claims)
                        .build())
                .build());
    return event;
  }

  /** The stream records of deleted sessions, in this order. */
  public static DynamodbEvent deleted(Session... sessions) {
    DynamodbEvent event = new DynamodbEvent();
    event.setRecords(
        IntStream.range(0, sessions.length).mapToObj(i -> deleted(i, sessions[i])).toList());
    return event;
  }

  private static DynamodbStreamRecord deleted(int number, Session session) {
    Map<String, AttributeValue> row = new HashMap<>();
    row.put("tenantId", new AttributeValue(session.tenant().value()));
    row.put("sessionId", new AttributeValue(session.id().value()));
    row.put(
        "sessionTTL", new AttributeValue().withN(Long.toString(session.endsAt().getEpochSecond())));
    if (!session.connections().isEmpty()) {
      row.put("connectionIds", new AttributeValue(List.copyOf(session.connections())));
    }
    DynamodbStreamRecord record = new DynamodbStreamRecord();
    record.setEventName("REMOVE");
    record.setDynamodb(new StreamRecord().withSequenceNumber("number-" + number).withOldImage(row));
    return record;
  }

  /** A context with ten seconds left. */
  public static RecordingContext context() {
    return new RecordingContext(Duration.ofSeconds(10));
  }
}
