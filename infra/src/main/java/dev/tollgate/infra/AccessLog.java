package dev.tollgate.infra;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import software.amazon.awscdk.Aws;
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
 * <p>It names the type of an error and not its message. {@code $context.error.message} may contain
 * quotation marks, some of them from the client's headers. {@code $context.error.messageString} is
 * quoted already, but only if there is an error: otherwise API Gateway writes a bare hyphen, which
 * is not JSON.
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

  private AccessLog(LogGroup group, Stream<String> variables) {
    this.group = group;
    format =
        AccessLogFormat.custom(
            variables
                .map(name -> "\"" + name + "\":\"$context." + name + "\"")
                .collect(Collectors.joining(",", "{", "}")));
  }

  /**
   * The access log of an HTTP API.
   *
   * <p>CloudWatch Logs adds each group that an HTTP API writes to one resource policy of the
   * account, unless the group's name begins with {@code /aws/vendedlogs/}. When that policy is
   * full, a stage cannot be created. The name ends with the id of the stack, because the group of a
   * deleted stack with the same name may still exist.
   *
   * @param api the API's name, which is unique in the stack
   * @see <a
   *     href="https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/AWS-logs-infrastructure-CWL.html">Log
   *     group resource policy size limit considerations</a>
   */
  static AccessLog ofHttpApi(Construct scope, String api, TollgateProps props) {
    return new AccessLog(
        group(scope, props)
            .logGroupName(
                "/aws/vendedlogs/" + Aws.STACK_NAME + "/" + api + "/" + Policies.stackUuid())
            .build(),
        Stream.concat(
            COMMON.stream(),
            Stream.of("responseLatency", "integrationErrorMessage", "error.responseType")));
  }

  /** The access log of a WebSocket API, which API Gateway writes with the account's log role. */
  static AccessLog ofWebSocketApi(Construct scope, TollgateProps props) {
    return new AccessLog(
        group(scope, props).build(),
        Stream.concat(
            COMMON.stream(),
            Stream.of(
                "connectionId",
                "authorizer.tenantId",
                "authorizer.error",
                "integrationErrorMessage",
                "error.responseType")));
  }

  private static LogGroup.Builder group(Construct scope, TollgateProps props) {
    return LogGroup.Builder.create(scope, "AccessLog")
        .retention(props.logRetention())
        .removalPolicy(props.removalPolicy());
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
