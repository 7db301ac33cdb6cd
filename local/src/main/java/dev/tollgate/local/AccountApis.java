package dev.tollgate.local;

import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.endpoint.QueryProtocol;
import dev.tollgate.local.template.Environment;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import java.util.UUID;

/** What an account says about itself: its stack, and the settings of API Gateway. */
final class AccountApis {
  private final Environment environment;

  AccountApis(Environment environment) {
    this.environment = environment;
  }

  /**
   * CloudFormation with one operation, {@code DescribeStacks}, for one stack.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html">DescribeStacks</a>
   */
  void describeStacks(HttpServerExchange exchange) {
    try {
      Call call = Call.of(exchange);
      if (!call.operation().equals("DescribeStacks")) {
        throw new ApiException(
            400, "InvalidAction", "action: " + call.operation() + " (expected: DescribeStacks)");
      }
      String name = call.form().getOrDefault("StackName", environment.stackName());
      if (!name.equals(environment.stackName())) {
        throw new ApiException(400, "ValidationError", "Stack with id " + name + " does not exist");
      }
      exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "text/xml");
      exchange
          .getResponseSender()
          .send(
              """
              <DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">
                <DescribeStacksResult>
                  <Stacks>
                    <member>
                      <StackName>%s</StackName>
                      <StackStatus>CREATE_COMPLETE</StackStatus>
                    </member>
                  </Stacks>
                </DescribeStacksResult>
                <ResponseMetadata>
                  <RequestId>%s</RequestId>
                </ResponseMetadata>
              </DescribeStacksResponse>
              """
                  .formatted(QueryProtocol.escape(name), UUID.randomUUID()));
    } catch (ApiException e) {
      e.sendXml(exchange);
    }
  }

  /**
   * API Gateway's settings of the account, which has a role for logs.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/apigateway/latest/api/API_GetAccount.html">GetAccount</a>
   */
  static void settingsOfApiGateway(HttpServerExchange exchange) {
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
    exchange
        .getResponseSender()
        .send("{\"cloudwatchRoleArn\": \"arn:aws:iam::000000000000:role/logs\"}");
  }
}
