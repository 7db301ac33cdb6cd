package dev.tollgate.infra;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import software.amazon.awscdk.services.apigateway.AccessLogFormat;
import software.amazon.awscdk.services.apigatewayv2.IAccessLogDestination;
import software.amazon.awscdk.services.apigatewayv2.IAccessLogSettings;
import software.amazon.awscdk.services.apigatewayv2.LogGroupLogDestination;
import software.amazon.awscdk.services.logs.LogGroup;
import software.constructs.Construct;

/**
 * An access log with one line of JSON per request. It omits the query string, because a session id
 * is a secret.
 *
 * <p>Variables:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-logging-variables.html and
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-websocket-api-mapping-template-reference.html
 */
final class AccessLog implements IAccessLogSettings {
  private static final List<String> COMMON =
      List.of("requestId", "requestTime", "identity.sourceIp", "routeKey", "status");

  private final LogGroup group;
  private final AccessLogFormat format;

  private AccessLog(Construct scope, TollgateProps props, Stream<String> variables) {
    group =
        LogGroup.Builder.create(scope, "AccessLog")
            .retention(props.logRetention())
            .removalPolicy(props.removalPolicy())
            .build();
    format =
        AccessLogFormat.custom(
            variables
                .map(name -> "\"" + name + "\":\"$context." + name + "\"")
                .collect(Collectors.joining(",", "{", "}")));
  }

  static AccessLog ofHttpApi(Construct scope, TollgateProps props) {
    return new AccessLog(
        scope,
        props,
        Stream.concat(
            COMMON.stream(),
            Stream.of("responseLatency", "integrationErrorMessage", "error.message")));
  }

  static AccessLog ofWebSocketApi(Construct scope, TollgateProps props) {
    return new AccessLog(
        scope,
        props,
        Stream.concat(
            COMMON.stream(),
            Stream.of(
                "connectionId",
                "authorizer.tenantId",
                "authorizer.error",
                "integrationErrorMessage",
                "error.message")));
  }

  @Override
  public IAccessLogDestination getDestination() {
    return new LogGroupLogDestination(group);
  }

  @Override
  public AccessLogFormat getFormat() {
    return format;
  }
}
